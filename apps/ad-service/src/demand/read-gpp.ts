import { BitReader, UnreadableBits } from "./bit-reader.ts";

const TYPE = 3;
const VERSION = 1;
/** No section has a higher id, here as in `gpp_sid`. */
const HIGHEST_SECTION = 255;

/**
 * The sections of a string of GPP by their ids, in the order of the header (IAB Tech Lab, "Global Privacy Platform String", the
 * header's section). Its ranges of ids are bounded before they are expanded: a few letters can name 10¹² sections. Undefined: it
 * breaks the format.
 */
export function readGppSections(text: string): ReadonlyMap<number, string> | undefined {
  const [header = "", ...sections] = text.split("~");
  try {
    const ids = readHeader(new BitReader(header));
    if (ids.length !== sections.length) return undefined;
    return new Map(ids.map((id, place) => [id, sections[place] ?? ""]));
  } catch (error) {
    if (error instanceof UnreadableBits) return undefined;
    throw error;
  }
}

/** In ascending order, as each is written as the distance from the one before. */
function readHeader(bits: BitReader): number[] {
  if (bits.number(6) !== TYPE || bits.number(6) !== VERSION) throw new UnreadableBits();
  const ids: number[] = [];
  let last = 0;
  for (let left = bits.number(12); left > 0; left -= 1) {
    const isRange = bits.flag();
    const first = last + readFibonacci(bits);
    last = isRange ? first + readFibonacci(bits) : first;
    if (last > HIGHEST_SECTION) throw new UnreadableBits();
    for (let id = first; id <= last; id += 1) ids.push(id);
  }
  return ids;
}

/** A number of 1 or more as a sum of Fibonacci's 1, 2, 3, 5, …, the lowest first; two ones end it. */
function readFibonacci(bits: BitReader): number {
  let [number, worth, next] = [0, 1, 2];
  for (let before = false; worth <= HIGHEST_SECTION * 2; [worth, next] = [next, worth + next]) {
    const bit = bits.flag();
    if (bit && before) return number;
    if (bit) number += worth;
    before = bit;
  }
  throw new UnreadableBits();
}

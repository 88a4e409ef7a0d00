import { BitReader, UnreadableBits } from "./bit-reader.ts";

/** A string of TCF 2, as far as it says whether a viewer's data may go to a vendor. */
export interface TcfConsent {
  /** Of the viewer, to each of the first 24 purposes: that of the purpose 1 is the first. */
  purposes: readonly boolean[];
  /** Whether the viewer has consented to this vendor. */
  namesVendor(vendorId: number): boolean;
  /** Whether the publisher does not let this vendor use consent for this purpose. */
  isRestricted(purpose: number, vendorId: number): boolean;
}

type Range = readonly [first: number, last: number];

interface Restriction {
  purpose: number;
  type: number;
  ranges: readonly Range[];
}

const VERSION = 2;
/** Bits between the version and the purposes: two moments, the platform, its screen and language, the list, policy and flags. */
const BEFORE_PURPOSES = 36 + 36 + 12 + 12 + 6 + 12 + 12 + 6 + 1 + 1 + 12;
/** Legitimate interests, the treatment of purpose 1, the publisher's country. */
const AFTER_PURPOSES = 24 + 1 + 12;
const PURPOSES = 24;
/** Of 0: not allowed, 1: by consent, 2: by legitimate interest, 3: undefined. */
const BY_CONSENT = 1;

/**
 * Reads the core of a string (IAB Europe, "Consent string and vendor list formats v2"), which is its first segment. Ranges of
 * vendors stay ranges: a string of 4,096 characters can name tens of millions of vendors. Undefined: it breaks the format.
 */
export function readTcf(text: string): TcfConsent | undefined {
  try {
    return readCore(new BitReader(text.split(".", 1)[0] ?? ""));
  } catch (error) {
    if (error instanceof UnreadableBits) return undefined;
    throw error;
  }
}

function readCore(bits: BitReader): TcfConsent {
  if (bits.number(6) !== VERSION) throw new UnreadableBits();
  bits.skip(BEFORE_PURPOSES);
  const purposes = Array.from({ length: PURPOSES }, () => bits.flag());
  bits.skip(AFTER_PURPOSES);
  const namesVendor = readVendors(bits);
  // Legitimate interests are never asked for; what follows them is.
  readVendors(bits);
  const restrictions: Restriction[] = [];
  for (let left = bits.number(12); left > 0; left -= 1)
    restrictions.push({ purpose: bits.number(6), type: bits.number(2), ranges: readRanges(bits) });
  return {
    purposes,
    namesVendor,
    isRestricted: (purpose, vendorId) =>
      restrictions.some(
        (one) => one.purpose === purpose && one.type !== BY_CONSENT && includesVendor(one.ranges, vendorId),
      ),
  };
}

function readVendors(bits: BitReader): (vendorId: number) => boolean {
  const highest = bits.number(16);
  if (bits.flag()) {
    const ranges = readRanges(bits);
    if (ranges.some(([, last]) => last > highest)) throw new UnreadableBits();
    return (vendorId) => includesVendor(ranges, vendorId);
  }
  const start = bits.skip(highest);
  return (vendorId) => vendorId >= 1 && vendorId <= highest && bits.flagAt(start + vendorId - 1);
}

/** As many as are written: each takes 17 bits at least, so that the length of the string bounds them. */
function readRanges(bits: BitReader): Range[] {
  const ranges: Range[] = [];
  for (let left = bits.number(12); left > 0; left -= 1) {
    const isRange = bits.flag();
    const first = bits.number(16);
    const last = isRange ? bits.number(16) : first;
    if (first < 1 || last < first) throw new UnreadableBits();
    ranges.push([first, last]);
  }
  return ranges;
}

function includesVendor(ranges: readonly Range[], vendorId: number): boolean {
  return ranges.some(([first, last]) => first <= vendorId && vendorId <= last);
}

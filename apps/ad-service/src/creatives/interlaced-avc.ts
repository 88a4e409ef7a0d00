/*
 * What the H.264 stream of a file declares about its pictures: ISO/IEC 14496-15, 5.3.3.1 (`AVCDecoderConfigurationRecord`),
 * and ITU-T H.264, 7.3.2.1.1 (sequence parameter set).
 */

/** Profiles whose parameter sets describe chroma and scaling (7.3.2.1.1). */
const HIGH_PROFILES = new Set([100, 110, 122, 244, 44, 83, 86, 118, 128, 134, 135, 138, 139]);
const CHROMA_444 = 3;

/**
 * Whether some parameter set of an `avcC` box allows pictures of two fields (`frame_mbs_only_flag` is 0). Phones and browsers
 * show both fields at once, as combs. False for bytes that are no such box.
 */
export function isInterlacedAvc(avcC: Uint8Array): boolean {
  const count = (avcC[5] ?? 0) & 0x1f;
  let at = 6;
  for (let index = 0; index < count; index++) {
    const length = ((avcC[at] ?? 0) << 8) | (avcC[at + 1] ?? 0);
    if (length === 0 || at + 2 + length > avcC.length) return false;
    if (allowsFields(avcC.subarray(at + 2, at + 2 + length))) return true;
    at += 2 + length;
  }
  return false;
}

function allowsFields(parameterSet: Uint8Array): boolean {
  const bits = bitsOf(parameterSet.subarray(1));
  const profile = bits.read(8);
  bits.read(16);
  bits.readCode();
  if (HIGH_PROFILES.has(profile)) skipChromaAndScaling(bits);
  bits.readCode();
  skipPictureOrder(bits);
  bits.readCode();
  bits.read(1);
  bits.readCode();
  bits.readCode();
  return bits.read(1) === 0 && !bits.isAtEnd();
}

type Bits = ReturnType<typeof bitsOf>;

function skipChromaAndScaling(bits: Bits): void {
  const chroma = bits.readCode();
  if (chroma === CHROMA_444) bits.read(1);
  bits.readCode();
  bits.readCode();
  bits.read(1);
  if (bits.read(1) === 0) return;
  for (let list = 0; list < (chroma === CHROMA_444 ? 12 : 8); list++)
    if (bits.read(1) === 1) skipScalingList(bits, list < 6 ? 16 : 64);
}

function skipScalingList(bits: Bits, size: number): void {
  let [last, next] = [8, 8];
  for (let index = 0; index < size; index++) {
    if (next !== 0) next = (last + bits.readSigned() + 256) % 256;
    last = next === 0 ? last : next;
  }
}

const MAX_CYCLE = 255;

function skipPictureOrder(bits: Bits): void {
  const type = bits.readCode();
  if (type === 0) bits.readCode();
  if (type !== 1) return;
  bits.read(1);
  bits.readCode();
  bits.readCode();
  const frames = Math.min(bits.readCode(), MAX_CYCLE);
  for (let frame = 0; frame < frames; frame++) bits.readCode();
}

/** Reads bits and Exp-Golomb codes (9.1) of a parameter set; beyond its end all bits are 0. */
function bitsOf(escaped: Uint8Array) {
  // A 3 behind two zeros is inserted so that no start code occurs (7.4.1).
  const bytes = escaped.filter((byte, at) => !(byte === 3 && at > 1 && escaped[at - 1] === 0 && escaped[at - 2] === 0));
  let at = 0;
  const readBit = () => {
    const bit = ((bytes[at >> 3] ?? 0) >> (7 - (at & 7))) & 1;
    at += 1;
    return bit;
  };
  const read = (count: number) => {
    let value = 0;
    for (let bit = 0; bit < count; bit++) value = value * 2 + readBit();
    return value;
  };
  const readCode = () => {
    let zeros = 0;
    while (zeros < 32 && readBit() === 0) zeros += 1;
    return 2 ** zeros - 1 + read(zeros);
  };
  const readSigned = () => {
    const code = readCode();
    return code % 2 === 1 ? (code + 1) / 2 : -code / 2;
  };
  return { read, readCode, readSigned, isAtEnd: () => at > bytes.length * 8 };
}

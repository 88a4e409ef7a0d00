/**
 * Codes: what a bot's user opens an ad with. A code stands alone in an address and is not URL-encoded by clients, so its
 * alphabet is a part of `[0-9A-Za-z]`, without the look-alikes 0 O o, 1 I l.
 */
export const codeAlphabet = "23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz";

/** The first characters of a code name its bot. */
export const codePrefixLength = 4;
/** 12 × log2(56) = 69.7 random bits. */
export const codeRandomLength = 12;
/** Bytes to hand to `newCode` or `newCodePrefix`; more than they need, so that a code runs out of them once in 3 × 10^11. */
export const codeRandomBytes = 32;

const prefixPattern = new RegExp(`^[${codeAlphabet}]{${codePrefixLength}}$`);
const codePattern = new RegExp(`^[${codeAlphabet}]{${codePrefixLength + codeRandomLength}}$`);

/** Letters without bias: a byte beyond the largest multiple of the alphabet is passed over. */
function lettersFrom(randomBytes: Uint8Array, length: number): string {
  const limit = 256 - (256 % codeAlphabet.length);
  let letters = "";
  for (const byte of randomBytes) {
    if (letters.length === length) break;
    if (byte < limit) letters += codeAlphabet[byte % codeAlphabet.length];
  }
  if (letters.length < length) throw new Error(`${randomBytes.length} random bytes were too few for ${length} letters`);
  return letters;
}

/** A fresh code of the bot with this prefix; needs `codeRandomBytes`. Throws for a malformed prefix and too few bytes. */
export function newCode(prefix: string, randomBytes: Uint8Array): string {
  if (!prefixPattern.test(prefix)) throw new Error(`a code's prefix is ${codePrefixLength} letters of its alphabet`);
  return prefix + lettersFrom(randomBytes, codeRandomLength);
}

/** A fresh prefix for a bot: 23 random bits, so its uniqueness is the store's to check. Throws for too few bytes. */
export function newCodePrefix(randomBytes: Uint8Array): string {
  return lettersFrom(randomBytes, codePrefixLength);
}

/** Whether the text has the form of a code; says nothing of its being known. */
export function isCode(text: string): boolean {
  return codePattern.test(text);
}

/** The prefix of a text for which `isCode` holds: it names the code's bot. */
export function codePrefixOf(code: string): string {
  return code.slice(0, codePrefixLength);
}

/** A Telegram id: digits without leading zeros, at most 20. */
export const telegramIdPattern = /^[1-9][0-9]{0,19}$/;

/** `evt_` and a UUIDv7 in lower case. */
export const eventIdPattern = /^evt_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** `evt_` + UUIDv7 (RFC 9562, section 5.7): sorts by its millisecond. Needs 10 random bytes. */
export function newEventId(nowMilliseconds: number, randomBytes: Uint8Array): string {
  return `evt_${uuidv7(nowMilliseconds, randomBytes)}`;
}

/** The id of a followed direct link, `clk_` + UUIDv7: what landing pages and postbacks name. Needs 10 random bytes. */
export function newClickId(nowMilliseconds: number, randomBytes: Uint8Array): string {
  return `clk_${uuidv7(nowMilliseconds, randomBytes)}`;
}

/** The id of the event that a click earned, or would have earned: the same UUID. */
export function eventIdOfClick(clickId: string): string {
  return clickId.replace(/^clk_/, "evt_");
}

/** A UUIDv7 (RFC 9562, section 5.7). Needs 10 random bytes. Throws for a time that its 48 bits cannot hold. */
export function uuidv7(nowMilliseconds: number, randomBytes: Uint8Array): string {
  if (randomBytes.length < 10) throw new Error("a UUIDv7 needs 10 random bytes");
  if (!Number.isInteger(nowMilliseconds) || nowMilliseconds < 0 || nowMilliseconds >= 2 ** 48) {
    throw new Error(`a UUIDv7 cannot hold the time ${nowMilliseconds}`);
  }
  const [version = 0, low = 0, variant = 0, ...others] = randomBytes.subarray(0, 10);
  let hex = nowMilliseconds.toString(16).padStart(12, "0");
  for (const byte of [0x70 | (version & 0x0f), low, 0x80 | (variant & 0x3f), ...others]) hex += hexOfByte[byte];
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Looked up: an id costs 0.8 µs so, and 2.0 µs when each byte is formatted. */
const hexOfByte = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

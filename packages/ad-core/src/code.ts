/**
 * A user of a bot opens an ad with a code. Clients put codes into addresses without URL encoding, so the alphabet is a
 * subset of `[0-9A-Za-z]`, without the look-alikes 0 O o, 1 I l.
 */
export const codeAlphabet = "23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz";

/** The first letters of a code tell the week of its issue: 3136 weeks, until 2084. */
export const CODE_WEEK_LENGTH = 2;
/** The letters behind them identify its bot. */
export const CODE_PREFIX_LENGTH = 4;
/**
 * The letter behind those tells which three hours of the week: codes of a bot that are issued together are neighbours in every
 * index, so that the pages that new codes change are few, and in memory, however many codes are stored.
 */
export const CODE_HOURS_LENGTH = 1;
/** 11 × log2(56) = 63.9 random bits. */
export const CODE_RANDOM_LENGTH = 11;
/** Bytes to pass to `newCode` or `newCodePrefix`. More than needed: they are too few for a code once in 10^12 times. */
export const CODE_RANDOM_BYTES = 32;

const prefixPattern = new RegExp(`^[${codeAlphabet}]{${CODE_PREFIX_LENGTH}}$`);
/** Letters of a whole code. */
export const CODE_LENGTH = CODE_WEEK_LENGTH + CODE_PREFIX_LENGTH + CODE_HOURS_LENGTH + CODE_RANDOM_LENGTH;
const codePattern = new RegExp(`^[${codeAlphabet}]{${CODE_LENGTH}}$`);

/** Unbiased letters: bytes beyond the largest multiple of the alphabet's length are skipped. */
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

const WEEK_MS = 7 * 86_400_000;
/** A Monday, 00:00 UTC. */
const FIRST_WEEK_MS = Date.UTC(2024, 0, 1);
const WEEKS = codeAlphabet.length ** CODE_WEEK_LENGTH;
/** As many as the alphabet has letters. */
const HOURS_MS = 3 * 3_600_000;

/**
 * The letters that begin the codes of the week (Monday, 00:00 UTC) of a moment, in milliseconds of the epoch. Letters of a later
 * week sort behind them by their bytes, so that the codes of a week are a range. A moment before 2024 or after 2084 has those of
 * the first or last week.
 */
export function codeWeekAt(moment: number): string {
  const week = Math.floor(sinceFirstWeek(moment) / WEEK_MS);
  return `${codeAlphabet[Math.floor(week / codeAlphabet.length)]}${codeAlphabet[week % codeAlphabet.length]}`;
}

/** The letter of the three hours of a moment in its week. Letters of later hours sort behind it by their bytes. */
export function codeHoursAt(moment: number): string {
  return codeAlphabet.charAt(Math.floor((sinceFirstWeek(moment) % WEEK_MS) / HOURS_MS));
}

/** In milliseconds; of a moment that no code can tell, of the first or last one that it can. */
function sinceFirstWeek(moment: number): number {
  return Math.min(Math.max(moment - FIRST_WEEK_MS, 0), WEEKS * WEEK_MS - 1);
}

/**
 * A new code of the bot with this prefix, issued at `now`. Needs `CODE_RANDOM_BYTES`. Throws for a malformed prefix and for too
 * few bytes.
 */
export function newCode(prefix: string, randomBytes: Uint8Array, now: Date): string {
  if (!prefixPattern.test(prefix)) throw new Error(`a code's prefix is ${CODE_PREFIX_LENGTH} letters of its alphabet`);
  const issuedAt = now.getTime();
  return codeWeekAt(issuedAt) + prefix + codeHoursAt(issuedAt) + lettersFrom(randomBytes, CODE_RANDOM_LENGTH);
}

/**
 * A new code in the place of one of the same bot, which tells the time of that one: what is stored by its code stays in its week. Needs `CODE_RANDOM_BYTES`. Throws for too few bytes.
 */
export function newCodeInPlaceOf(code: string, randomBytes: Uint8Array): string {
  return code.slice(0, -CODE_RANDOM_LENGTH) + lettersFrom(randomBytes, CODE_RANDOM_LENGTH);
}

/** A new prefix for a bot. It has only 23 random bits, so the store must check its uniqueness. Throws for too few bytes. */
export function newCodePrefix(randomBytes: Uint8Array): string {
  return lettersFrom(randomBytes, CODE_PREFIX_LENGTH);
}

/** Whether the text has the form of a code. The code may be unknown. */
export function isCode(text: string): boolean {
  return codePattern.test(text);
}

/** Characters that nobody sees: apps put them into texts, and between the letters of a long word. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;

const codeWord = new RegExp(`^[^0-9A-Za-z]*([${codeAlphabet}]{${CODE_LENGTH}})(?![0-9A-Za-z]*[${codeAlphabet}])`);

/**
 * The code in a text as people send it: with brackets, quotes or blanks around it, a full stop behind it, or invisible
 * characters in it. What follows the code and is not of its alphabet is ignored; letters of the alphabet make it another
 * word, which is no code. Look-alikes are not corrected: 0, O and o, or 1, I and l, are all missing from the alphabet, so none
 * of them stands for a letter.
 */
export function codeInText(text: string): string | undefined {
  return codeWord.exec(text.replace(INVISIBLE, ""))?.[1];
}

/** The letters of the week in a code. The text must pass `isCode`. */
export function weekOfCode(code: string): string {
  return code.slice(0, CODE_WEEK_LENGTH);
}

/** The letter of the three hours in a code. The text must pass `isCode`. */
export function hoursOfCode(code: string): string {
  return code.charAt(CODE_WEEK_LENGTH + CODE_PREFIX_LENGTH);
}

/** The prefix in a code, which identifies its bot. The text must pass `isCode`. */
export function codePrefixOf(code: string): string {
  return code.slice(CODE_WEEK_LENGTH, CODE_WEEK_LENGTH + CODE_PREFIX_LENGTH);
}

/** A Telegram id: digits without leading zeros, at most 20. */
export const telegramIdPattern = /^[1-9][0-9]{0,19}$/;

/** A value that Telegram allows as the `startapp` parameter of a link. */
export const startParamPattern = /^[A-Za-z0-9_-]{1,512}$/;

/** `evt_` and a UUIDv7 in lower case. */
export const eventIdPattern = /^evt_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** `evt_` + UUIDv7 (RFC 9562, section 5.7): sorts by its time in milliseconds. Needs 10 random bytes. */
export function newEventId(nowMilliseconds: number, randomBytes: Uint8Array): string {
  return `evt_${uuidv7(nowMilliseconds, randomBytes)}`;
}

/** Below the event ids of this moment, and above those before it: `evt_` and the first 48 bits of a UUIDv7. */
export function firstEventIdAt(moment: Date): string {
  const hex = Math.max(0, moment.getTime()).toString(16).padStart(12, "0");
  return `evt_${hex.slice(0, 8)}-${hex.slice(8)}`;
}

/** The id of a direct link's click, `clk_` + UUIDv7, which landing pages and postbacks carry. Needs 10 random bytes. */
export function newClickId(nowMilliseconds: number, randomBytes: Uint8Array): string {
  return `clk_${uuidv7(nowMilliseconds, randomBytes)}`;
}

/** When a click happened: the first 48 bits of its id. Undefined for a text that is no click id. */
export function timeOfClick(clickId: string): Date | undefined {
  const [, high, low] = /^clk_([0-9a-f]{8})-([0-9a-f]{4})-7/.exec(clickId) ?? [];
  return high === undefined ? undefined : new Date(Number.parseInt(`${high}${low}`, 16));
}

/** The id of the event that a click earned, or would have earned: the same UUID. */
export function eventIdOfClick(clickId: string): string {
  return `evt_${clickId.slice("clk_".length)}`;
}

/** A UUIDv7 (RFC 9562, section 5.7). Needs 10 random bytes. Throws for a time that its 48 bits cannot hold. */
export function uuidv7(nowMilliseconds: number, randomBytes: Uint8Array): string {
  if (randomBytes.length < 10) throw new Error("a UUIDv7 needs 10 random bytes");
  if (!Number.isInteger(nowMilliseconds) || nowMilliseconds < 0 || nowMilliseconds >= 2 ** 48) {
    throw new Error(`a UUIDv7 cannot hold the time ${nowMilliseconds}`);
  }
  const time = nowMilliseconds.toString(16).padStart(12, "0");
  const hex = (index: number, mask = 0xff, fixed = 0) => hexOfByte[((randomBytes[index] ?? 0) & mask) | fixed];
  const versioned = `${hex(0, 0x0f, 0x70)}${hex(1)}-${hex(2, 0x3f, 0x80)}${hex(3)}`;
  return `${time.slice(0, 8)}-${time.slice(8)}-${versioned}-${hex(4)}${hex(5)}${hex(6)}${hex(7)}${hex(8)}${hex(9)}`;
}

/** An id takes 0.5 µs with this table, and 2 µs when each byte is formatted. */
const hexOfByte = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  CODE_PREFIX_LENGTH,
  CODE_RANDOM_BYTES,
  CODE_RANDOM_LENGTH,
  codeAlphabet,
  codeHoursAt,
  codeInText,
  codePrefixOf,
  codeWeekAt,
  eventIdPattern,
  isCode,
  newCode,
  newCodeInPlaceOf,
  newCodePrefix,
  newEventId,
  telegramIdPattern,
} from "./code.ts";

const WEEK_MS = 7 * 86_400_000;
const weekStart = (ms: number) => Math.floor((ms - Date.UTC(2024, 0, 1)) / WEEK_MS);

const randomBytes = fc.uint8Array({ minLength: CODE_RANDOM_BYTES, maxLength: CODE_RANDOM_BYTES });

test("the alphabet has no look-alikes, and the random letters carry at least 60 bits", () => {
  expect(codeAlphabet).not.toMatch(/[0Oo1Il]/);
  expect(codeAlphabet).toMatch(/^[0-9A-Za-z]+$/);
  expect(new Set(codeAlphabet).size).toBe(codeAlphabet.length);
  expect(CODE_RANDOM_LENGTH * Math.log2(codeAlphabet.length)).toBeGreaterThanOrEqual(60);
});

const now = new Date("2026-06-10T12:00:00Z");

test("a code is 18 letters and digits, and tells its week, its bot and its three hours", () => {
  fc.assert(
    fc.property(randomBytes, randomBytes, (first, second) => {
      fc.pre(
        first.filter((byte) => byte < 224).length >= CODE_PREFIX_LENGTH &&
          second.filter((byte) => byte < 224).length >= CODE_RANDOM_LENGTH,
      );
      const prefix = newCodePrefix(first);
      const code = newCode(prefix, second, now);
      expect(code).toMatch(/^[0-9A-Za-z]{18}$/);
      expect(code.startsWith(codeWeekAt(now.getTime()) + prefix + codeHoursAt(now.getTime()))).toBe(true);
      expect(isCode(code)).toBe(true);
      expect(codePrefixOf(code)).toBe(prefix);
    }),
  );
});

test("a code in the place of another is of the same week, bot and hours, and a new one", () => {
  fc.assert(
    fc.property(randomBytes, randomBytes, (first, second) => {
      const code = newCode("abcd", first, now);
      const other = newCodeInPlaceOf(code, second);
      expect(isCode(other)).toBe(true);
      expect(other.slice(0, 7)).toBe(code.slice(0, 7));
      expect(other).toBe(newCode("abcd", second, now));
    }),
  );
});

test("codes sort by their week, which begins on Monday, 00:00 UTC", () => {
  const at = (moment: string) => codeWeekAt(Date.parse(moment));
  expect(at("2026-06-14T23:59:59.999Z")).toBe(at("2026-06-08T00:00:00Z"));
  expect([at("2024-01-01T00:00:00Z"), at("2024-01-08T00:00:00Z"), at("1970-01-01T00:00:00Z")]).toEqual([
    "22",
    "23",
    "22",
  ]);
  expect([at("2084-02-07T00:00:00Z"), at("2300-01-01T00:00:00Z")]).toEqual(["zz", "zz"]);
  const moment = fc.integer({ min: Date.UTC(2024, 0, 1), max: Date.UTC(2084, 0, 1) });
  fc.assert(
    fc.property(moment, moment, (one, other) => {
      const [first, second] = [one, other].map((ms) => Buffer.from(codeWeekAt(ms)));
      const isLater = weekStart(other) > weekStart(one);
      expect(Buffer.compare(second ?? Buffer.of(), first ?? Buffer.of()) > 0).toBe(isLater);
    }),
  );
});

test("the hours of a code have a letter each, in order, and begin with the week", () => {
  const monday = Date.UTC(2026, 5, 8);
  const letters = Array.from({ length: 56 }, (_, index) => codeHoursAt(monday + index * 3 * 3_600_000));
  expect(letters.join("")).toBe(codeAlphabet);
  expect(codeHoursAt(monday + 3 * 3_600_000 - 1)).toBe(letters[0]);
  expect(codeHoursAt(monday + WEEK_MS)).toBe(letters[0]);
  expect([codeHoursAt(Date.UTC(1970, 0, 1)), codeHoursAt(Date.UTC(2300, 0, 1))]).toEqual(["2", "z"]);
});

test("all letters are equally likely", () => {
  const counts = new Map<string, number>();
  for (let byte = 0; byte < 256; byte++) {
    const bytes = new Uint8Array(64).fill(byte);
    if (byte >= 224) continue;
    const letter = newCodePrefix(bytes)[0] ?? "";
    counts.set(letter, (counts.get(letter) ?? 0) + 1);
  }
  expect(new Set(counts.values())).toEqual(new Set([4]));
  expect(counts.size).toBe(codeAlphabet.length);
});

test("a prefix that is not four letters of the alphabet throws, so that no malformed code is made", () => {
  for (const prefix of ["", "ABC", "ABCDE", "ABC0", "AB D", "ABC\n"]) {
    expect(() => newCode(prefix, new Uint8Array(CODE_RANDOM_BYTES), now)).toThrow("prefix");
  }
});

test("too few random bytes throw, so that no short code is made", () => {
  expect(() => newCode("ABCD", new Uint8Array(4), now)).toThrow("too few");
  expect(() => newCode("ABCD", new Uint8Array(64).fill(255), now)).toThrow("too few");
});

test.each(["", "short", "ABCDEFGHJKLMNPQRS0", "ABCDEFGHJKMNPQRSTUV", "ABCDEFGHJK MNPQRST", "ABCDEFGHJKMNPQRSTU\n"])(
  "%j is not a code",
  (text) => {
    expect(isCode(text)).toBe(false);
  },
);

describe("a code is found in a text as people send it", () => {
  const code = "ABCDEFGHJKMNPQRSTU";
  // biome-ignore format: packed
  test.each([
    code, ` ${code}`, `${code}.`, `(${code})`, `«${code}»`, `"${code}",`, `${code}…`, `${code}\n`, `${code}\u200b`,
    `\ufeff${code}`, `${code}\u2060.`, `ABCD\u200bEFGH\u00adJKMNPQRSTU`, `/${code}/`, `${code}?a=b`, `${code}</a>`,
    `${code} and more`, `${code}и ещё`, `${code}0`, `${code}lO`, `${code}l.`,
  ])("%j", (text) => expect(codeInText(text)).toBe(code));

  // biome-ignore format: packed
  test.each([
    "", " ", "ABCDEFGHJKMNPQRST", `${code}S`, `${code}2.`, `${code}0S`, `x${code}`, `x ${code}`, `1${code}`,
    "ABCDEFGH JKMNPQRSTU", "ABCDEFGHJKMNPQRST0", "ABCDEFGHJKMNPQRSTl", "АBCDEFGHJKMNPQRSTU", "A".repeat(100_000),
  ])("none is in %j", (text) => expect(codeInText(text)).toBeUndefined());

  test("whatever stands around it, if no letter or digit touches it; and what is found is a code", () => {
    const around = fc.stringMatching(/^[^0-9A-Za-z]{0,9}$/);
    fc.assert(
      fc.property(around, around, fc.string(), (before, after, more) => {
        expect(codeInText(before + code + after)).toBe(code);
        expect(isCode(codeInText(more + code + more) ?? code)).toBe(true);
      }),
    );
  });
});

test("an event id is a UUIDv7 that sorts by its time in milliseconds", () => {
  fc.assert(
    fc.property(fc.nat(2 ** 45), fc.uint8Array({ minLength: 10, maxLength: 10 }), (milliseconds, random) => {
      const id = newEventId(milliseconds, random);
      expect(id).toMatch(eventIdPattern);
      expect(Number.parseInt(id.slice(4, 17).replace("-", ""), 16)).toBe(milliseconds);
    }),
  );
});

test("an event id carries the UUIDv7 that RFC 9562 shows in appendix A.6", () => {
  const random = new Uint8Array(Buffer.from("fcc398c4dc0c0c07398f", "hex"));
  expect(newEventId(1_645_557_742_000, random)).toBe("evt_017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
});

test.each([-1, 1.5, 2 ** 48, Number.NaN, Number.POSITIVE_INFINITY])(
  "%d is refused as the time of an event id",
  (milliseconds) => {
    expect(() => newEventId(milliseconds, new Uint8Array(10))).toThrow("cannot hold the time");
  },
);

test("a Telegram id is up to 20 digits without a leading zero", () => {
  for (const id of ["1", "42", "7000000001", "9".repeat(20)]) expect(id).toMatch(telegramIdPattern);
  for (const id of ["", "0", "042", "-1", "+1", "1.0", "1e3", " 1", "1\n", "１", "9".repeat(21)]) {
    expect(id).not.toMatch(telegramIdPattern);
  }
});

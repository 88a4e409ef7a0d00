import fc from "fast-check";
import { expect, test } from "vitest";
import {
  codeAlphabet,
  codePrefixLength,
  codePrefixOf,
  codeRandomBytes,
  codeRandomLength,
  eventIdPattern,
  isCode,
  newCode,
  newCodePrefix,
  newEventId,
} from "./code.ts";

const randomBytes = fc.uint8Array({ minLength: codeRandomBytes, maxLength: codeRandomBytes });

test("the alphabet holds no look-alikes, and twelve letters of it at least 60 bits", () => {
  expect(codeAlphabet).not.toMatch(/[0Oo1Il]/);
  expect(codeAlphabet).toMatch(/^[0-9A-Za-z]+$/);
  expect(new Set(codeAlphabet).size).toBe(codeAlphabet.length);
  expect(codeRandomLength * Math.log2(codeAlphabet.length)).toBeGreaterThanOrEqual(60);
});

test("a code is 16 letters and digits, and tells its bot's prefix", () => {
  fc.assert(
    fc.property(randomBytes, randomBytes, (first, second) => {
      fc.pre(
        first.filter((byte) => byte < 224).length >= codePrefixLength &&
          second.filter((byte) => byte < 224).length >= codeRandomLength,
      );
      const prefix = newCodePrefix(first);
      const code = newCode(prefix, second);
      expect(code).toMatch(/^[0-9A-Za-z]{16}$/);
      expect(isCode(code)).toBe(true);
      expect(codePrefixOf(code)).toBe(prefix);
    }),
  );
});

test("every letter is as likely as every other", () => {
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

test("too few random bytes throw instead of making a short code", () => {
  expect(() => newCode("ABCD", new Uint8Array(4))).toThrow("too few");
  expect(() => newCode("ABCD", new Uint8Array(64).fill(255))).toThrow("too few");
});

test.each(["", "short", "ABCDEFGHJKLMNPQ0", "ABCDEFGHJKLMNPQRS", "ABCDEFGH JKLMNPQ", "ABCDEFGHJKLMNPQR\n"])(
  "%j is no code",
  (text) => {
    expect(isCode(text)).toBe(false);
  },
);

test("an event id is a UUIDv7 that sorts by its millisecond", () => {
  fc.assert(
    fc.property(fc.nat(2 ** 45), fc.uint8Array({ minLength: 10, maxLength: 10 }), (milliseconds, random) => {
      const id = newEventId(milliseconds, random);
      expect(id).toMatch(eventIdPattern);
      expect(Number.parseInt(id.slice(4, 17).replace("-", ""), 16)).toBe(milliseconds);
    }),
  );
});

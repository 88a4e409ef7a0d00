import fc from "fast-check";
import { expect, test } from "vitest";
import { referenceKey } from "./reference-key.ts";

test.each([
  ["case", "inv-2026-014"],
  ["blanks", " INV 2026  014 "],
  ["no separators", "INV2026014"],
  ["dashes of word processors", "INV–2026—014"],
  ["a minus sign and a hyphen that does not break", "INV−2026‑014"],
  ["full-width letters", "ＩＮＶ－２０２６－０１４"],
  ["a soft hyphen, a zero-width space and a no-break space", "I\u00adNV\u200b-2026\u00a0014"],
  ["underscores", "INV_2026_014"],
])("a reference with other %s is the same one", (_what, text) => {
  expect(referenceKey(text)).toBe(referenceKey("INV-2026-014"));
});

test.each([
  ["Straße 5", "STRASSE 5"],
  ["Überweisung", "U\u0308berweisung"],
  ["СЧЁТ-7", "счёт 7"],
  ["Σίσυφος", "ΣΊΣΥΦΟΣ"],
])("%j is %j", (one, other) => {
  expect(referenceKey(one)).toBe(referenceKey(other));
});

test.each([
  ["INV-1", "INV-2"],
  ["INV/1", "INV/11"],
  ["1.1", "11"],
  ["---", "–"],
])("%j is not %j", (one, other) => {
  expect(referenceKey(one)).not.toBe(referenceKey(other));
});

test("a key is the key of itself, and is never empty", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", minLength: 1 }), (text) => {
      const key = referenceKey(text);
      expect(key).not.toBe("");
      expect(referenceKey(key)).toBe(key);
    }),
    { examples: [["e\u200b\u0301"], ["\u200b"]] },
  );
});

import { isStorable, storableText } from "@intermission/postgres/storable-text";
import fc from "fast-check";
import { expect, test } from "vitest";

const anyText = fc.string({
  unit: fc.oneof(fc.constantFrom("\0", "\ud83d", "\ude42", "🙂", "a"), fc.string({ unit: "binary" })),
});

test("every text passes the gate in a form that is stored, and what is stored already passes unchanged", () => {
  fc.assert(
    fc.property(anyText, fc.nat({ max: 20 }), (text, maxLength) => {
      const stored = storableText(text, maxLength);
      expect(isStorable(stored)).toBe(true);
      expect(stored.length).toBeLessThanOrEqual(maxLength);
      expect(storableText(stored, maxLength)).toBe(stored);
      if (isStorable(text) && text.length <= maxLength) expect(stored).toBe(text);
    }),
  );
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { type Edit, presentationOf } from "./edit-list.ts";

const media = { from: 0, to: 20 };
const shown = (seconds: number, mediaSeconds: number, rate = 1): Edit => ({ seconds, mediaSeconds, rate });
const empty = (seconds: number): Edit => ({ seconds, mediaSeconds: null, rate: 1 });

test.each<[name: string, edits: Edit[], presentation: object]>([
  ["without a list, all of it", [], { outcome: "whole", from: 0, to: 20 }],
  ["all of it", [shown(20, 0)], { outcome: "whole", from: 0, to: 20 }],
  ["all but its last frames", [shown(19.8, 0)], { outcome: "whole", from: 0, to: 19.8 }],
  ["from a cut on", [shown(12.7, 7.3)], { outcome: "whole", from: 0, to: 12.7 }],
  ["after an empty edit", [empty(2), shown(20, 0)], { outcome: "whole", from: 2, to: 22 }],
  ["more than there is", [shown(40, 0)], { outcome: "whole", from: 0, to: 20 }],
  ["its first six seconds", [shown(6, 0)], { outcome: "edited", from: 0, to: 6 }],
  ["six seconds of its middle, late", [empty(2), shown(6, 3)], { outcome: "edited", from: 2, to: 8 }],
  ["two parts", [shown(3, 0), shown(4, 10)], { outcome: "edited", from: 0, to: 7 }],
  ["a gap between two parts", [shown(3, 0), empty(1), shown(4, 10)], { outcome: "edited", from: 0, to: 8 }],
  ["an empty edit at the end", [shown(20, 0), empty(1)], { outcome: "edited", from: 0, to: 21 }],
  ["twice as fast", [shown(10, 0, 2)], { outcome: "edited", from: 0, to: 10 }],
  ["a standing picture", [shown(5, 0, 0)], { outcome: "edited", from: 0, to: 5 }],
  ["a part without a length", [shown(0, 0)], { outcome: "edited", from: 0, to: 20, isEmptyEdit: true }],
  ["what is beyond its end", [shown(6, 30)], { outcome: "nothing" }],
  ["empty edits only", [empty(5)], { outcome: "nothing" }],
])("a track that shows %s", (_name, edits, presentation) => {
  expect(presentationOf(edits, media, { isFragmented: false })).toMatchObject(presentation);
});

test("a fragmented file's list was written before its length was known", () => {
  const isFragmented = { isFragmented: true };
  expect(presentationOf([shown(0, 0)], media, isFragmented)).toEqual({ outcome: "whole", from: 0, to: 20 });
});

test("no list presents more than the sum of its parts or, without several, than the media", () => {
  const time = fc.double({ min: 0, max: 100, noNaN: true });
  const edit = fc.record({ seconds: time, mediaSeconds: fc.option(time), rate: fc.constantFrom(0, 1, 2) });
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 4 }), fc.boolean(), (edits, isFragmented) => {
      const presentation = presentationOf(edits, media, { isFragmented });
      if (presentation.outcome === "nothing") return;
      const sum = edits.reduce((total, { seconds }) => total + seconds, 0);
      expect(presentation.to).toBeLessThanOrEqual(sum + media.to + 1e-9);
      expect(presentation.to).toBeGreaterThanOrEqual(presentation.from);
    }),
  );
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { chooseAd } from "./choose-ad.ts";

test("each is chosen as often as its weight says", () => {
  const candidates = [
    { name: "a", weight: 1 },
    { name: "b", weight: 3 },
    { name: "c", weight: 6 },
  ];
  const chosen = Array.from({ length: 1000 }, (_, index) => chooseAd(candidates, index / 1000)?.name);
  const counts = Object.groupBy(chosen, (name) => name ?? "none");
  expect([counts.a?.length, counts.b?.length, counts.c?.length]).toEqual([100, 300, 600]);
});

test("nobody stands, nobody is chosen", () => {
  expect(chooseAd([], 0.5)).toBeUndefined();
});

test("where anybody stands, somebody is chosen, whatever the chance", () => {
  const candidates = fc.array(fc.record({ weight: fc.integer({ min: 1, max: 1_000_000 }) }), { minLength: 1 });
  fc.assert(
    fc.property(candidates, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (some, chance) => {
      expect(some).toContain(chooseAd(some, chance));
    }),
  );
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { seededNumbers, simulateMediation } from "../../../../bench/simulate-mediation.ts";
import { type Estimate, EXPLORED_SHARE, estimate, orderSources, planSources } from "./order-sources.ts";

const source = fc.record({ fillShare: fc.double({ min: 0, max: 1, noNaN: true }), fillMicros: fc.nat(10_000) });
const sources = fc
  .array(source, { maxLength: 5 })
  .map((some) => some.map((one, index): Estimate => ({ campaignId: `cmp_${index}`, ...one })));

/** What an order earns, as it is requested. */
const worth = (order: readonly Estimate[], certainMicros: number): number =>
  order.reduceRight(
    (rest, { fillShare, fillMicros }) => fillShare * fillMicros + (1 - fillShare) * rest,
    certainMicros,
  );

function orders(some: readonly Estimate[], atMost: number): Estimate[][] {
  if (atMost === 0) return [[]];
  const longer = some.flatMap((first) => {
    const others = some.filter((one) => one !== first);
    return orders(others, atMost - 1).map((rest) => [first, ...rest]);
  });
  return [[], ...longer];
}

test("no order of the sources earns more than the planned one", () => {
  fc.assert(
    fc.property(sources, fc.nat(5000), fc.nat(3), (some, certainMicros, atMost) => {
      const plan = planSources(some, { certainMicros, atMost });
      const best = Math.max(...orders(some, atMost).map((order) => worth(order, certainMicros)));
      expect(plan.order.length).toBeLessThanOrEqual(atMost);
      expect(plan.expectedMicros).toBeCloseTo(worth(plan.order, certainMicros), 6);
      expect(plan.expectedMicros).toBeCloseTo(best, 6);
    }),
    { numRuns: 200 },
  );
});

test("a source with a rare, dear ad goes before one that always has a cheap one", () => {
  const rare = { campaignId: "rare", fillShare: 0.1, fillMicros: 10_000 };
  const often = { campaignId: "often", fillShare: 0.9, fillMicros: 1500 };
  const { order } = planSources([often, rare], { certainMicros: 0, atMost: 3 });
  expect(order.map(({ campaignId }) => campaignId)).toEqual(["rare", "often"]);
  expect(planSources([often, rare], { certainMicros: 0, atMost: 1 }).order).toEqual([often]);
  expect(planSources([often, rare], { certainMicros: 2000, atMost: 3 }).order, "a bid is worth more").toEqual([rare]);
});

test("a source without requests that costs what is certain is requested", () => {
  const unknown = estimate({ campaignId: "new", priceMicros: 3000, record: undefined });
  expect(planSources([unknown], { certainMicros: 3000, atMost: 3 }).order).toEqual([unknown]);
  expect(planSources([unknown], { certainMicros: 3001, atMost: 3 }).order).toEqual([]);
});

test("what is watched to the end counts, not the price: a source whose ads are closed falls behind", () => {
  const record = { tries: 1000, fills: 900, completed: 90, earnedMicros: 900 * 300 };
  const { fillShare, fillMicros } = estimate({ campaignId: "a", priceMicros: 3000, record });
  expect(fillShare).toBeCloseTo(0.9, 2);
  expect(fillMicros).toBeGreaterThan(300);
  expect(fillMicros).toBeLessThan(350);
  expect(estimate({ campaignId: "new", priceMicros: 3000, record: undefined }).fillMicros).toBe(3000);
});

test("one opening of twenty tries another source first, and the same numbers draw the same order", () => {
  const some = ["a", "b", "c"].map((campaignId, index) => ({ campaignId, fillShare: 0.5, fillMicros: 3000 - index }));
  const drawn = (seed: number) => {
    const random = seededNumbers(seed);
    return Array.from({ length: 4000 }, () => orderSources(some, { certainMicros: 0, atMost: 3 }, random));
  };
  const openings = drawn(1);
  expect(drawn(1)).toEqual(openings);
  const trials = openings.filter(({ isTrial }) => isTrial);
  expect(trials.length / openings.length).toBeCloseTo(EXPLORED_SHARE, 1);
  expect(new Set(trials.map(({ order }) => order[0]?.campaignId))).toEqual(new Set(["b", "c"]));
  expect(trials.every(({ order }) => order.length === 3)).toBe(true);
});

test("with known prices it earns 95 % of the best fixed order within 5,000 openings", () => {
  for (let seed = 1; seed <= 10; seed++) {
    const { learned, best, latest } = simulateMediation({ seed, openings: 5000 });
    expect(latest / best, `seed ${seed}`).toBeGreaterThanOrEqual(0.95);
    expect(learned / best, `seed ${seed}, with what was learned at the beginning`).toBeGreaterThanOrEqual(0.9);
  }
});

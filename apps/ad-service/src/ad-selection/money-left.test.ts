import { metricsRegistry } from "@intermission/server/metrics";
import { expect, test } from "vitest";
import { stateOf } from "../../test/fixtures/selection-fixture.ts";
import { moneyLeft, moneyLeftMetric } from "./money-left.ts";

test("an advertiser's funds count once, budgets each, and money of views in flight is not left", () => {
  const funds = { limitMicros: 10_000_000, spentMicros: 4_000_000, heldMicros: 500_000 };
  const states = [
    stateOf(
      "a",
      { totalBudgetMicros: 5_000_000, dailyBudgetMicros: 2_000_000, viewPriceMicros: 10_000 },
      { spentMicros: 1_000_000 },
      { earlier: { views: 0, clicks: 0, spentMicros: 3_000_000 }, viewsInFlight: 10, funds },
    ),
    stateOf("b", { dailyBudgetMicros: 1_000_000 }, { spentMicros: 400_000 }, { funds }),
    // Slightly beyond its budget: nothing is left, and it takes nothing from the others.
    stateOf("c", { dailyBudgetMicros: 1_000_000 }, { spentMicros: 1_200_000 }),
  ];
  expect(moneyLeft(states)).toEqual({
    "advertiser-funds": 5_500_000,
    "total-budget": 900_000,
    "daily-budget": 900_000 + 600_000,
  });
});

test("limits that no campaign has are absent from the metric", async () => {
  const registry = metricsRegistry({ service: "test", version: "0" });
  const states = [stateOf("a", { dailyBudgetMicros: 1_500_000 }), stateOf("b", {})];
  moneyLeftMetric(registry, { states: () => states, currency: "EUR" });
  const lines = (await registry.metrics()).split("\n").filter((line) => line.startsWith("intermission_money_left"));
  expect(lines).toEqual(['intermission_money_left{limit="daily-budget",currency="EUR"} 1.5']);
});

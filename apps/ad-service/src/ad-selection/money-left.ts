import { Gauge, type Registry } from "prom-client";
import type { CampaignState } from "./campaign-state.ts";

type MoneyLimit = "advertiser-funds" | "total-budget" | "daily-budget";

/**
 * What running campaigns may still spend, in micros, by the kind of limit: money of views in flight is no longer left. An
 * advertiser's funds count once, and kinds that no campaign has are absent. Each kind is a bound of its own: they overlap.
 */
export function moneyLeft(states: Iterable<CampaignState>): Partial<Record<MoneyLimit, number>> {
  const left: Partial<Record<MoneyLimit, number>> = {};
  const add = (limit: MoneyLimit, micros: number) => {
    left[limit] = (left[limit] ?? 0) + Math.max(0, micros);
  };
  const counted = new Set<object>();
  for (const { campaign, funds, today, earlier, viewsInFlight } of states) {
    if (funds !== null && !counted.has(funds)) {
      counted.add(funds);
      add("advertiser-funds", funds.limitMicros - funds.spentMicros - funds.heldMicros);
    }
    const { totalBudgetMicros, dailyBudgetMicros, viewPriceMicros } = campaign;
    const spentToday = today.spentMicros + viewsInFlight * viewPriceMicros;
    if (totalBudgetMicros !== null) add("total-budget", totalBudgetMicros - earlier.spentMicros - spentToday);
    if (dailyBudgetMicros !== null) add("daily-budget", dailyBudgetMicros - spentToday);
  }
  return left;
}

/** `intermission_money_left`: each node has the same, from the state by which it chooses ads. */
export function moneyLeftMetric(
  registry: Registry,
  { states, currency }: { readonly states: () => Iterable<CampaignState>; readonly currency: string },
): void {
  new Gauge({
    name: "intermission_money_left",
    labelNames: ["limit", "currency"],
    registers: [registry],
    help: "What running campaigns may still spend, in units of the currency, by the kind of limit.",
    collect() {
      this.reset();
      for (const [limit, micros] of Object.entries(moneyLeft(states()))) this.set({ limit, currency }, micros / 1e6);
    },
  });
}

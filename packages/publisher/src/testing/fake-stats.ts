import type { StatsResponse } from "@intermission/ad-core/client-api";
import type { FakeEvents } from "./fake-events.ts";

const nothing: StatsResponse["total"] = {
  ...{ requests: 0, fills: 0, fill_rate: null, no_fills: {}, limited: {}, requests_refused: {} },
  ...{ starts: 0, first_quartiles: 0, midpoints: 0, third_quartiles: 0, completions: 0, completion_rate: null },
  ...{ closes: {}, rewards: 0, views_held: {}, views_refused: {}, clicks: 0, clicks_refused: {}, refunds: {} },
  ...{ conversions: 0, revenue_micros: 0, ecpm_micros: null },
};

/** Counts rewards and clicks; the fake has no other figures. */
export function fakeStats(events: FakeEvents, query: URLSearchParams, now: Date): StatsResponse {
  const to = new Date(query.get("to") ?? now);
  const from = new Date(query.get("from") ?? to.getTime() - 7 * 24 * 3_600_000);
  const by = (query.get("by") ?? "day") as StatsResponse["by"];
  const figures = { ...nothing, rewards: events.count("rewarded"), clicks: events.count("direct_link") };
  return {
    currency: "USD",
    from: from.toISOString(),
    to: to.toISOString(),
    by,
    rows: [],
    total: figures,
    deliveries: { delivered: 0, under_way: 0, failed: 0, success_rate: null },
  };
}

import type { ReferenceFigures, ReferenceStatsResponse, StatsResponse } from "@intermission/ad-core/client-api";
import { readMoment } from "@intermission/ad-core/moment";
import type { FakeEvents } from "./fake-events.ts";

const nothing: StatsResponse["total"] = {
  requests: 0,
  fills: 0,
  fill_rate: null,
  no_fills: {},
  limited: {},
  requests_refused: {},
  starts: 0,
  first_quartiles: 0,
  midpoints: 0,
  third_quartiles: 0,
  completions: 0,
  completion_rate: null,
  closes: {},
  rewards: 0,
  views_held: {},
  views_refused: {},
  clicks: 0,
  clicks_refused: {},
  refunds: {},
  conversions: 0,
  revenue_micros: 0,
  ecpm_micros: null,
};

/** Counts rewards and clicks, and what they are worth, by reference too; the fake has no other figures. Throws what `refuse` makes of a faulty period. */
export function fakeStats(
  events: FakeEvents,
  { query, now, refuse }: { query: URLSearchParams; now: Date; refuse: (message: string) => Error },
): StatsResponse | ReferenceStatsResponse {
  const momentOf = (name: "from" | "to"): Date | undefined => {
    const text = query.get(name);
    if (text === null) return undefined;
    const read = readMoment(text);
    if (read.outcome === "refused") throw refuse(`${name}: ${read.message}`);
    return read.moment;
  };
  const to = momentOf("to") ?? now;
  const all = events.earned();
  const currency = all.find((event) => event.currency !== undefined)?.currency ?? "USD";
  const from = momentOf("from") ?? new Date(to.getTime() - 7 * 24 * 3_600_000);
  if (from >= to) throw refuse(`from must be before the end (${to.toISOString()})`);
  const prefix = query.get("reference_prefix") ?? (query.get("by") === "reference" ? "" : undefined);
  if (prefix !== undefined) {
    const by = (query.get("by") ?? "day") as ReferenceStatsResponse["by"];
    const earned = all.filter(({ reference }) => reference?.startsWith(prefix));
    const keyOf = { reference: (event: Earned) => event.reference ?? "", ...timeKeys }[by];
    if (keyOf === undefined) throw refuse(`by must be hour, day or reference with reference_prefix, not ${by}`);
    const keys = [...new Set(earned.map(keyOf))].sort();
    const rows = keys.map((key) => ({ key, ...figuresOf(earned.filter((event) => keyOf(event) === key)) }));
    const period = { from: from.toISOString(), to: to.toISOString() };
    return { currency, ...period, by, reference_prefix: prefix, rows, total: figuresOf(earned) };
  }
  const by = (query.get("by") ?? "day") as StatsResponse["by"];
  const figures = {
    ...nothing,
    rewards: events.count("rewarded"),
    clicks: events.count("direct_link"),
    revenue_micros: revenueOf(all),
  };
  return {
    currency,
    from: from.toISOString(),
    to: to.toISOString(),
    by,
    rows: [],
    total: figures,
    deliveries: { delivered: 0, under_way: 0, failed: 0, success_rate: null },
  };
}

type Earned = ReturnType<FakeEvents["earned"]>[number];

const timeKeys = {
  hour: ({ occurred_at }: Earned) => `${occurred_at.slice(0, "2026-03-01T12".length)}:00:00Z`,
  day: ({ occurred_at }: Earned) => occurred_at.slice(0, "2026-03-01".length),
};

const revenueOf = (earned: readonly Earned[]) =>
  earned.reduce((sum, { revenue_micros: micros = 0 }) => sum + micros, 0);

function figuresOf(earned: readonly Earned[]): ReferenceFigures {
  const rewards = earned.filter(({ event }) => event === "rewarded").length;
  const users = new Set(earned.map(({ user_tg_id }) => user_tg_id)).size;
  return { rewards, clicks: earned.length - rewards, users, refunds: 0, revenue_micros: revenueOf(earned) };
}

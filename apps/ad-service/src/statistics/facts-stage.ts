import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { statement } from "@intermission/postgres/open-database";
import fc from "fast-check";
import type { AdDatabase, AdTransaction } from "../ad-database.ts";
import { rollUpStatistics } from "./roll-up-statistics.ts";

/** One raw row, of the kinds that the statistics are made of. For tests. */
export type Fact = { botId: string; hour: number; second: number } & (
  | { kind: "request"; outcome: "filled" | "no-ad" | "limited"; campaignId: string | null }
  | { kind: "milestone"; milestone: "start" | "midpoint" | "complete" | "close"; campaignId: string }
  | { kind: "event" | "refund"; format: "rewarded" | "direct_link"; campaignId: string; priceMicros: number }
  | { kind: "conversion" | "tap"; campaignId: string }
  | { kind: "refusal"; reason: "machine-crawler" | "expired" }
);

export const bots = ["910", "911"];
export const campaigns = ["cmp_a", "cmp_b", "cmp_c"];
export const dayStart = Date.parse("2026-03-01T00:00:00Z");
/** From noon on the publisher's share is another one. */
export const shares = { morning: 70, afternoon: 55, changedAtHour: 12 };

const place = { botId: fc.constantFrom(...bots), hour: fc.nat(23), second: fc.nat(3599) };
const campaignId = fc.constantFrom(...campaigns);

export const anyFact: fc.Arbitrary<Fact> = fc.oneof(
  fc.record({
    kind: fc.constant("request" as const),
    ...place,
    outcome: fc.constantFrom("filled" as const, "no-ad" as const, "limited" as const),
    campaignId: fc.option(campaignId),
  }),
  fc.record({
    kind: fc.constant("milestone" as const),
    ...place,
    milestone: fc.constantFrom("start" as const, "midpoint" as const, "complete" as const, "close" as const),
    campaignId,
  }),
  fc.record({
    kind: fc.constantFrom("event" as const, "refund" as const),
    ...place,
    format: fc.constantFrom("rewarded" as const, "direct_link" as const),
    campaignId,
    priceMicros: fc.nat(5000),
  }),
  fc.record({ kind: fc.constantFrom("conversion" as const, "tap" as const), ...place, campaignId }),
  fc.record({
    kind: fc.constant("refusal" as const),
    ...place,
    reason: fc.constantFrom("machine-crawler" as const, "expired" as const),
  }),
);

const insertions = {
  request: `insert into ad_requests (bot_id, user_id, code, outcome, reason, campaign_id, occurred_at)
    values ($1, '1', $2, $4, '', $5, $3)`,
  milestone: `insert into ad_milestones (bot_id, campaign_id, creative_id, milestone, occurred_at)
    select $1, $5, 'cre_a', $4, $3 where $2::text is not null`,
  event: `insert into events (event_id, code, bot_id, user_id, campaign_id, creative_id, event, price_micros, occurred_at, body)
    values ($2, $2, $1, '1', $5, 'cre_a', $4, $6, $3, '')`,
  refund: `insert into refunds (event_id, bot_id, campaign_id, creative_id, event, price_micros, charged_at, occurred_at)
    values ($2, $1, $5, 'cre_a', $4, $6, $3, $3)`,
  conversion: `insert into conversions (bot_id, click_id, campaign_id, occurred_at) values ($1, $2, $4, $3)`,
  tap: `insert into ad_clicks (bot_id, session_id, click_id, user_id, campaign_id, creative_id, occurred_at)
    values ($1, $2, $2, '1', $4, 'cre_a', $3)`,
  refusal: `insert into click_refusals (bot_id, code, reason, hour, count)
    values ($1, $2, $4, date_trunc('hour', $3::timestamptz, 'UTC'), 1)
    on conflict (bot_id, code, reason, hour) do update set count = click_refusals.count + 1, is_summed = false`,
};

/** Refused clicks are of `code`: two transactions that are open at once need one of their own each, or wait for one another. */
export async function insertFacts(tx: AdTransaction, facts: readonly Fact[], code = "shared"): Promise<void> {
  for (const fact of facts) {
    const values: unknown[] = [fact.botId, randomUUID(), momentOf(fact)];
    if (fact.kind === "request") values.push(fact.outcome, fact.campaignId);
    if (fact.kind === "milestone") values.push(fact.milestone, fact.campaignId);
    if (fact.kind === "event" || fact.kind === "refund") values.push(fact.format, fact.campaignId, fact.priceMicros);
    if (fact.kind === "conversion" || fact.kind === "tap") values.push(fact.campaignId);
    if (fact.kind === "refusal") {
      values.push(fact.reason);
      values[1] = code;
    }
    await tx.run(statement(`test.insert-${fact.kind}`, insertions[fact.kind]), values);
  }
}

export function momentOf({ hour, second }: Fact): Date {
  return new Date(dayStart + (hour * 3600 + second) * 1000);
}

export async function insertCampaigns(database: AdDatabase): Promise<void> {
  await database.run(
    statement("test.advertiser", "insert into advertisers (name, name_key) values ('Acme', 'acme')"),
    [],
  );
  const insertCampaign = statement(
    "test.campaign",
    "insert into campaigns (campaign_id, name, advertiser, formats) values ($1, $1, 'Acme', '{rewarded,direct_link}')",
  );
  for (const id of campaigns) await database.run(insertCampaign, [id]);
}

/** What the sums must be, told by the facts alone: `bot hour campaign measure reason` → count, spend and revenue. */
export function expectedSums(facts: readonly Fact[]): Record<string, [count: number, spend: number, revenue: number]> {
  const sums: Record<string, [number, number, number]> = {};
  for (const fact of facts) {
    const campaignOf = "campaignId" in fact ? (fact.campaignId ?? "") : "";
    const key = [fact.botId, fact.hour, campaignOf, ...measureOf(fact)].join(" ");
    const price = fact.kind === "event" || fact.kind === "refund" ? fact.priceMicros : 0;
    const sign = fact.kind === "refund" ? -1 : 1;
    const percent = fact.hour < shares.changedAtHour ? shares.morning : shares.afternoon;
    const [count, spend, revenue] = sums[key] ?? [0, 0, 0];
    sums[key] = [count + 1, spend + sign * price, revenue + sign * Math.floor((price * percent) / 100)];
  }
  return sums;
}

function measureOf(fact: Fact): [measure: string, reason: string] {
  if (fact.kind === "request") return [{ filled: "fills", "no-ad": "no-fills", limited: "limited" }[fact.outcome], ""];
  if (fact.kind === "milestone") {
    return [{ start: "starts", midpoint: "midpoints", complete: "completions", close: "closes" }[fact.milestone], ""];
  }
  if (fact.kind === "event") return [fact.format === "rewarded" ? "rewards" : "clicks", ""];
  if (fact.kind === "refund") return ["refunds", fact.format];
  return fact.kind === "refusal" ? ["clicks-refused", fact.reason] : [`${fact.kind}s`, ""];
}

const mark = statement<{ xid: string }>("test.mark", "select commit_xid() as xid");
const reached = statement<{ xid: string }>("test.reached", "select min(xid) as xid from stats_progress");

/** Rolls up until all that is committed by now is counted: transactions of others, in other databases too, may hold it up. */
export async function rollUpUntilNow(database: AdDatabase): Promise<void> {
  const xidOf = async (of: typeof mark) => BigInt((await database.run(of, []))[0]?.xid ?? 0);
  const now = await xidOf(mark);
  while ((await xidOf(reached)) <= now) {
    const { hasMore } = await rollUpStatistics(database);
    if (!hasMore) await setTimeout(5);
  }
}

export async function readSums(database: AdDatabase): Promise<ReturnType<typeof expectedSums>> {
  const rows = await database.query.selectFrom("stats_hours").selectAll().execute();
  return Object.fromEntries(
    rows.map((row) => {
      const hour = (row.hour.getTime() - dayStart) / 3_600_000;
      const key = [row.bot_id, hour, row.campaign_id, row.measure, row.reason].join(" ");
      return [key, [row.count, row.spend_micros, row.revenue_micros]];
    }),
  );
}

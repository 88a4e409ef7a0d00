import { momentInput, telegramId } from "@intermission/ad-core/client-api";
import type { Database, Statement } from "@intermission/postgres/open-database";
import { invalidField, requireConfirmation } from "@intermission/server/refuse";
import { z } from "zod";
import { amountOf } from "./amounts.ts";

/** What is decided about many suspicious views or clicks: held ones are released or refused, paid ones are refunded. */
export const bulkDecisions = ["release", "refuse", "refund"] as const;
export type BulkDecision = (typeof bulkDecisions)[number];

/** Which of them; absent fields select all. */
export const reviewFilter = z
  .strictObject({
    botId: telegramId,
    userId: telegramId,
    campaignId: z.string().max(64),
    suspicion: z.string().max(64).describe("One of those that the list shows."),
    from: momentInput,
    to: momentInput,
  })
  .partial()
  .meta({ examples: [{ botId: "7000000001", suspicion: "too-even", from: "2026-03-01T00:00:00Z" }] });
export type ReviewFilter = z.infer<typeof reviewFilter>;

/** The conditions of a filter on a table's columns, whose first parameter is $1. */
export function filterConditions(of: { table: string; at: string; suspicions?: string }): string {
  const { table, at, suspicions = `${table}.suspicions` } = of;
  return `($1::text is null or ${table}.bot_id = $1) and ($2::text is null or ${table}.user_id = $2)
    and ($3::text is null or ${table}.campaign_id = $3) and ($4::text is null or $4 = any (${suspicions}))
    and ($5::timestamptz is null or ${at} >= $5) and ($6::timestamptz is null or ${at} < $6)`;
}

export function filterValues({ botId, userId, campaignId, suspicion, from, to }: ReviewFilter): unknown[] {
  return [botId, userId, campaignId, suspicion, from, to].map((value) => value ?? null);
}

/** What a decision applies to: rows of `id` and `price` in micros. */
export interface Matching {
  text: string;
  values: readonly unknown[];
}

/** Each decision is a transaction of its own. */
export const LONG_ANSWER = { answerTimeoutMs: 5 * 60_000 };

/** Of one request; the command line repeats it until none is left. */
const MAX_AT_ONCE = 200;

export const bulkAnswer = z.object({
  decided: z.number().describe("How many this request has decided."),
  skipped: z.number().describe("How many were decided by somebody else meanwhile."),
  left: z.number().describe("How many match the filter and are not decided; repeat the request."),
});
export type BulkAnswer = z.infer<typeof bulkAnswer>;

const count = ({ text }: Matching): Statement<{ matches: number; micros: string }> => ({
  name: "",
  text: `select count(*) as matches, coalesce(sum(price), 0)::bigint::text as micros from (${text}) as matching`,
});

/**
 * Decides about all that match, at most some hundred at once. Without a confirmation it refuses with their number and what
 * they cost.
 */
export async function decideInBulk(
  database: Database,
  matching: Matching,
  options: {
    decision: BulkDecision;
    /** In the plural. */
    what: "views" | "clicks";
    currency: string;
    isConfirmed: boolean;
    /** Whether it was decided: someone else may have been faster. */
    decide: (id: string) => Promise<boolean>;
  },
): Promise<BulkAnswer> {
  const { decision, what, currency, isConfirmed, decide } = options;
  const [all = { matches: 0, micros: "0" }] = await database.run(count(matching), matching.values);
  const amount = `${amountOf(BigInt(all.micros))} ${currency}`;
  const effects = all.matches === 0 ? [] : [{ field: "body", message: effectOf[decision](all.matches, what, amount) }];
  requireConfirmation(effects, { isConfirmed });
  const text = `select id from (${matching.text}) as matching order by id limit ${MAX_AT_ONCE}`;
  const found = await database.run<{ id: string }>({ name: "", text }, matching.values);
  let decided = 0;
  for (const { id } of found) if (await decide(id)) decided += 1;
  return { decided, skipped: found.length - decided, left: all.matches - found.length };
}

const effectOf = {
  release: (number, what, amount) =>
    `held ${what} that are paid: ${number}. Their events are sent to the publishers, and the campaigns are charged ${amount}`,
  refuse: (number, what) => `held ${what} that are refused for good, and earn nothing: ${number}`,
  refund: (number, what, amount) =>
    `paid ${what} that are refunded: ${number}. The advertisers get back ${amount}, and the publishers keep what was earned`,
} satisfies Record<BulkDecision, (number: number, what: string, amount: string) => string>;

/** Refuses a filter that would select nothing by mistake. */
export function requireFilter(filter: ReviewFilter): void {
  if (filter.from !== undefined && filter.to !== undefined && filter.from >= filter.to)
    throw invalidField("from", "must be before the end");
}

import { momentInput, telegramId } from "@intermission/ad-core/client-api";
import type { Database, Statement } from "@intermission/postgres/open-database";
import { type CheckedScope, refusals } from "@intermission/server/checked-routes";
import { confirmation } from "@intermission/server/parse-request";
import { invalidField, requireConfirmation } from "@intermission/server/refuse";
import { z } from "zod";
import { amountOf } from "./amounts.ts";

/** What is decided about many suspicious views or clicks: held ones are released or refused, paid ones are refunded. */
const bulkDecisions = ["release", "refuse", "refund"] as const;
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
const LONG_ANSWER = { answerTimeoutMs: 5 * 60_000 };

/** Of one request; the command line repeats it until none is left. */
const MAX_AT_ONCE = 200;

const bulkAnswer = z.object({
  decided: z.number().describe("How many this request has decided."),
  skipped: z.number().describe("How many were decided by somebody else meanwhile."),
  left: z.number().describe("How many match the filter and are not decided; repeat the request."),
});
type BulkAnswer = z.infer<typeof bulkAnswer>;

interface BulkReview<Filter extends ReviewFilter> {
  what: "views" | "clicks";
  filter: z.ZodType<Filter>;
  operations: Record<BulkDecision, { operationId: string; description: string }>;
  matching(decision: BulkDecision, filter: Filter): Matching;
  /** The ids for the log, or undefined if another request has decided it meanwhile. */
  decide(decision: BulkDecision, id: string): Promise<object | undefined>;
}

/**
 * `POST /views/release` and so on, with a filter as body: decides about all that match, at most some hundred at once. Without
 * a confirmation it refuses with their number and what they cost.
 */
export function bulkReviewRoutes<Filter extends ReviewFilter>(
  scope: CheckedScope,
  { database, deliveries, currency }: { database: Database; deliveries: { wake(): void }; currency: string },
  { what, filter, operations, matching, decide }: BulkReview<Filter>,
): void {
  const shared = { querystring: confirmation, body: filter, response: { 200: bulkAnswer, ...refusals(409) } };
  for (const decision of bulkDecisions) {
    const schema = { ...shared, ...operations[decision] };
    scope.post(`/${what}/${decision}`, { schema, config: LONG_ANSWER }, async (request): Promise<BulkAnswer> => {
      // Checked by the schema, whose type the library cannot follow through the parameter.
      const given = request.body as Filter;
      requireFilter(given);
      const { text, values } = matching(decision, given);
      const [all = { matches: 0, micros: "0" }] = await database.run(count(text), values);
      const message = effectOf[decision](all.matches, what, `${amountOf(BigInt(all.micros))} ${currency}`);
      const { confirmed: isConfirmed } = request.query;
      requireConfirmation(all.matches === 0 ? [] : [{ field: "body", message }], { isConfirmed });
      const found = await database.run(firstOf(text), values);
      let decided = 0;
      for (const { id } of found) {
        const facts = await decide(decision, id);
        if (facts === undefined) continue;
        decided += 1;
        request.log.info({ ...facts, decision }, decidedByOperator);
      }
      deliveries.wake();
      return { decided, skipped: found.length - decided, left: all.matches - found.length };
    });
  }
}

export const decidedByOperator = "the operator has decided";

const count = (matching: string): Statement<{ matches: number; micros: string }> => ({
  name: "",
  text: `select count(*) as matches, coalesce(sum(price), 0)::bigint::text as micros from (${matching}) as matching`,
});
const firstOf = (matching: string): Statement<{ id: string }> => ({
  name: "",
  text: `select id from (${matching}) as matching order by id limit ${MAX_AT_ONCE}`,
});

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

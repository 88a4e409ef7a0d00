import { amountOf } from "@intermission/operator-api/amounts";
import type { FieldFaultCode } from "@intermission/operator-api/field-faults";
import { fieldFault } from "@intermission/operator-api/field-forms";
import type { BulkAnswer, BulkDecision, ReviewFilter } from "@intermission/operator-api/reviews";
import type { Author } from "@intermission/postgres/audit";
import type { Database, Statement } from "@intermission/postgres/open-database";
import { authorOf } from "@intermission/server/author-of";
import { invalidField, requireConfirmation } from "@intermission/server/refuse";
import type { FastifyBaseLogger, FastifyRequest } from "fastify";

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

/** The views or clicks that a decision applies to: rows of `id` and `price` in micros. */
export interface Matching {
  text: string;
  values: readonly unknown[];
}

/** Of one request; the command line repeats it until none is left. */
const MAX_AT_ONCE = 200;

interface BulkReview<Filter extends ReviewFilter> {
  what: "views" | "clicks";
  matching(decision: BulkDecision, filter: Filter): Matching;
  /** The ids for the log, or undefined if another request has decided it meanwhile. */
  decide(decision: BulkDecision, of: { id: string; author: Author }): Promise<object | undefined>;
}

interface BulkRequest<Filter> {
  body: Filter;
  query: { confirmed: boolean };
  log: Pick<FastifyBaseLogger, "info">;
  http: FastifyRequest;
}

/**
 * Decides about all that match a filter, at most some hundred at once. Without a confirmation it refuses with their number
 * and what they cost.
 */
export function bulkReview<Filter extends ReviewFilter>(
  { database, deliveries, currency }: { database: Database; deliveries: { wake(): void }; currency: string },
  { what, matching, decide }: BulkReview<Filter>,
): (decision: BulkDecision, request: BulkRequest<Filter>) => Promise<BulkAnswer> {
  return async (decision, { body: filter, query, log, http }) => {
    requireFilter(filter);
    const { text, values } = matching(decision, filter);
    const [all = { matches: 0, micros: "0" }] = await database.run(count(text), values);
    const amount = `${amountOf(BigInt(all.micros))} ${currency}`;
    const message = effectOf[decision](all.matches, what, amount);
    const effect = fieldFault(effectCodes[decision][what], { number: String(all.matches), amount });
    const effects = all.matches === 0 ? [] : [{ field: "body", message, effect }];
    requireConfirmation(effects, { isConfirmed: query.confirmed });
    const found = await database.run(firstOf(text), values);
    let decided = 0;
    for (const { id } of found) {
      const facts = await decide(decision, { id, author: authorOf(http) });
      if (facts === undefined) continue;
      decided += 1;
      log.info({ ...facts, decision }, decidedByOperator);
    }
    deliveries.wake();
    return { decided, skipped: found.length - decided, left: all.matches - found.length };
  };
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

const effectCodes = {
  release: { views: "RELEASES_VIEWS", clicks: "RELEASES_CLICKS" },
  refuse: { views: "REFUSES_VIEWS", clicks: "REFUSES_CLICKS" },
  refund: { views: "REFUNDS_VIEWS", clicks: "REFUNDS_CLICKS" },
} as const satisfies Record<BulkDecision, Record<BulkReview<ReviewFilter>["what"], FieldFaultCode>>;

/** Refuses a filter that would select nothing by mistake. */
export function requireFilter(filter: ReviewFilter): void {
  if (filter.from !== undefined && filter.to !== undefined && filter.from >= filter.to)
    throw invalidField("from", "must be before the end", fieldFault("END_BEFORE_START"));
}

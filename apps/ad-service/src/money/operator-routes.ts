import { amountOf } from "@intermission/operator-api/amounts";
import { fieldFault } from "@intermission/operator-api/field-forms";
import { moneyRoutes } from "@intermission/operator-api/money";
import type { MoneyEntry } from "@intermission/operator-api/money-fields";
import { publisherMoneyRoutes } from "@intermission/operator-api/publisher-money";
import type { ReportReader } from "@intermission/operator-api/report-figures";
import { type StatementFormat, statementRoutes } from "@intermission/operator-api/statements";
import { listPage } from "@intermission/postgres/keyset";
import type { Database } from "@intermission/postgres/open-database";
import { authorOf } from "@intermission/server/author-of";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { jsonInteger } from "@intermission/server/exact-json";
import type { HttpError } from "@intermission/server/http-server";
import { conflict, notFound, requireConfirmation } from "@intermission/server/refuse";
import { type OperatorHandlers, serveOperatorRoutes } from "@intermission/server/serve-operator-routes";
import type { FastifyReply, FastifyRequest } from "fastify";
import { keyReused, withheldRefusal } from "./ask-approval.ts";
import { isPayable, type PayoutOutcome, readEarnings, recordPayout } from "./earnings.ts";
import {
  type Account,
  advertiserAccount,
  listEntries,
  newTransactionId,
  publisherAccount,
  settledUntil,
  sumOfEntries,
} from "./ledger.ts";
import { listAdvertiserMoney } from "./list-advertiser-money.ts";
import { listPublisherMoney } from "./list-publisher-money.ts";
import { monthBefore } from "./months.ts";
import { monthNotOver, otherAmountOwed } from "./payout-refusals.ts";
import { type ByHand, type RecordByHandOutcome, recordByHand } from "./record-by-hand.ts";
import { statementCsv, statementPage, statementPolicy } from "./statement-files.ts";
import { findStatement, listStatements, statementInJson } from "./statements.ts";
import { moneyOfAdvertiser, type SetTermsOutcome, setTerms } from "./terms.ts";

export interface MoneyOperatorDeps {
  database: Database;
  /** Refreshed after each change, so that this node serves it immediately. */
  campaigns: { refresh(): Promise<void> };
  /** Of all amounts (ISO 4217). */
  currency: string;
  /** Refuses a bot that does not exist. */
  requireBots(botIds: readonly (string | undefined)[]): Promise<void>;
  /** Refuses an advertiser that does not exist. */
  requireAdvertiser(nameOrId: string): Promise<{ advertiserId: string; name: string }>;
  reportReaderOf(request: FastifyRequest): ReportReader;
  now: () => Date;
}

interface StatementFile {
  number: number;
  format: StatementFormat;
}

const routes = { ...moneyRoutes, ...publisherMoneyRoutes, ...statementRoutes };

/** The money of advertisers and publishers, and their statements. */
export function moneyOperatorRoutes(scope: CheckedScope, deps: MoneyOperatorDeps): void {
  serveOperatorRoutes(scope, routes, { ...ofAdvertisers(deps), ...ofPublishers(deps) });
}

/** What advertisers paid in, their terms and statements. */
function ofAdvertisers(deps: MoneyOperatorDeps) {
  const { database, campaigns, currency, now } = deps;
  return {
    async listAdvertiserMoney({ query }) {
      const { rows: advertisers, next, total } = await listAdvertiserMoney(deps, query);
      return { currency, advertisers, next, total };
    },

    async showAdvertiserMoney({ params }) {
      const { advertiserId } = await deps.requireAdvertiser(params.advertiser);
      return { currency, ...(await moneyOfAdvertiser(database, advertiserId)) };
    },

    async setTerms({ params, body, http }) {
      const { advertiserId, name } = await named(deps, params.advertiser);
      requireTermsSet(await setTerms(database, { advertiserId, ...body, author: authorOf(http) }), name);
      await campaigns.refresh();
      return moneyOfAdvertiser(database, advertiserId);
    },

    async recordTopUp({ params, query, body: { amountMicros, reference, note, idempotencyKey }, http }) {
      const { advertiserId, name } = await named(deps, params.advertiser);
      const transactionId = newTransactionId("top_up", idempotencyKey);
      const values = { transactionId, amountMicros, reference, note: note ?? null, isConfirmed: query.confirmed };
      const requested = { operation: "recordTopUp", advertiserId, ...values } as const;
      requireRecorded(await recordByHand(database, { requested, currency, author: authorOf(http), now: now() }), {
        reference,
        name,
      });
      await campaigns.refresh();
      return { transactionId, balanceMicros: await balanceOf(deps, advertiserId) };
    },

    async correctAdvertiser({ params, body, http }) {
      const { advertiserId } = await named(deps, params.advertiser);
      const { idempotencyKey, ...values } = body;
      const transactionId = newTransactionId("correction", idempotencyKey);
      await correct(deps, http, { operation: "correctAdvertiser", advertiserId, transactionId, ...values });
      return { transactionId, balanceMicros: await balanceOf(deps, advertiserId) };
    },

    async listAdvertiserEntries({ params, query }) {
      const { advertiserId } = await deps.requireAdvertiser(params.advertiser);
      return entriesOf(deps, advertiserAccount(advertiserId), query);
    },

    async listStatements({ query }) {
      return statementsOf(deps, undefined, query);
    },

    async listAdvertiserStatements({ params, query }) {
      const { advertiserId } = await deps.requireAdvertiser(params.advertiser);
      return statementsOf(deps, advertiserAccount(advertiserId), query);
    },

    async readAdvertiserStatement({ params, query }, answer) {
      const { advertiserId } = await deps.requireAdvertiser(params.advertiser);
      return fileOf(deps, advertiserAccount(advertiserId), { ...params, ...query }, answer);
    },
  } satisfies Partial<OperatorHandlers<typeof routes>>;
}

/** What publishers earned, their payouts and statements. */
function ofPublishers(deps: MoneyOperatorDeps) {
  const { database, currency, requireBots, reportReaderOf, now } = deps;
  return {
    async correctPublisher({ params: { botId }, body, http }) {
      await requireBots([botId]);
      const { idempotencyKey, ...values } = body;
      const transactionId = newTransactionId("correction", idempotencyKey);
      await correct(deps, http, { operation: "correctPublisher", botId, transactionId, ...values });
      return { transactionId, balanceMicros: jsonInteger(await sumOfEntries(database, publisherAccount(botId))) };
    },

    async listPublisherStatements({ params: { botId }, query }) {
      await requireBots([botId]);
      return statementsOf(deps, publisherAccount(botId), query);
    },

    async readPublisherStatement({ params, query }, answer) {
      await requireBots([params.botId]);
      return fileOf(deps, publisherAccount(params.botId), { ...params, ...query }, answer);
    },

    async listPublisherMoney({ query: { month = monthBefore(now()), ...query } }) {
      if (query.after !== undefined) await requireBots([query.after]);
      const { rows: publishers, ...page } = await listPublisherMoney(database, { month, currency, ...query });
      const settled = await settledUntil(database);
      return {
        currency,
        month,
        isOver: isPayable(month, { settled, now: now() }),
        publishers,
        ...page,
        settledUntil: settled,
      };
    },

    async readEarnings({ params: { botId } }) {
      await requireBots([botId]);
      return { currency, ...(await readEarnings(database, botId)), settledUntil: await settledUntil(database) };
    },

    async recordPayout({ params: { botId }, body, http }) {
      await requireBots([botId]);
      const paid = await recordPayout(database, { botId, ...body, currency, author: authorOf(http), now: now() });
      if (paid.outcome !== "paid") throw payoutRefusal(paid, { month: body.month, currency });
      return { transactionId: paid.transactionId, amountMicros: paid.amountMicros };
    },

    async listPublisherEntries({ params: { botId }, query, http }) {
      await requireBots([botId]);
      const listed = await entriesOf(deps, publisherAccount(botId), query);
      if (reportReaderOf(http) === "staff") return listed;
      return { ...listed, entries: listed.entries.map(({ transactionId: _, ...entry }): MoneyEntry => entry) };
    },
  } satisfies Partial<OperatorHandlers<typeof routes>>;
}

async function correct(
  { database, campaigns, currency, now }: MoneyOperatorDeps,
  http: FastifyRequest,
  requested: Exclude<ByHand, { operation: "recordTopUp" }>,
): Promise<void> {
  requireRecorded(await recordByHand(database, { requested, currency, author: authorOf(http), now: now() }));
  await campaigns.refresh();
}

/** Refuses what was not recorded. `topUp`: of which the reference may be known. */
function requireRecorded(
  recorded: RecordByHandOutcome,
  { reference, name }: { reference: string; name: string } = { reference: "", name: "" },
): void {
  switch (recorded.outcome) {
    case "recorded":
    case "recorded-before":
      return;
    case "reference-known": {
      const message = `${reference} stands on a top-up of ${name} already; recorded again, it would count twice`;
      const effect = fieldFault("REFERENCE_KNOWN", { reference, name });
      requireConfirmation([{ field: "reference", message, effect }], { isConfirmed: false });
      return;
    }
    case "other-values":
      throw keyReused();
    case "withheld":
      throw withheldRefusal(recorded);
    default:
      throw recorded satisfies never;
  }
}

function requireTermsSet(set: SetTermsOutcome, name: string): void {
  switch (set.outcome) {
    case "set":
      return;
    case "changed-since":
      throw conflict("TERMS_CHANGED", `the terms of ${name} were changed since they were read: read them again`);
    case "withheld":
      throw withheldRefusal(set);
    default:
      throw set satisfies never;
  }
}

async function entriesOf(
  { database }: MoneyOperatorDeps,
  account: Account,
  query: { before?: string | undefined; limit: number },
) {
  const rows = await listEntries(database, { ...query, account, limit: query.limit + 1 });
  const { rows: listed, next } = listPage(rows, query.limit, ({ entryId }) => String(entryId));
  const entries = listed.map((row) => ({ ...row, amountMicros: jsonInteger(BigInt(row.amountMicros)) }));
  return { entries, next, settledUntil: await settledUntil(database) };
}

async function statementsOf(
  { database }: MoneyOperatorDeps,
  account: Account | undefined,
  query: { before?: string | undefined; limit: number },
) {
  const of = { ...query, ...(account !== undefined && { account }), limit: query.limit + 1 };
  const { rows: statements, next } = listPage(await listStatements(database, of), query.limit, ({ number }) =>
    String(number),
  );
  return { statements: statements.map(statementInJson), next };
}

async function fileOf(
  { database }: MoneyOperatorDeps,
  account: Account,
  of: StatementFile,
  answer: Pick<FastifyReply, "header">,
) {
  const statement = await findStatement(database, { account, number: of.number });
  if (statement === undefined) throw notFound(`there is no statement ${of.number} of this account`);
  const name = `statement-${of.number}.${of.format}`;
  answer.header("content-type", `text/${of.format}; charset=utf-8`);
  if (of.format === "csv") {
    answer.header("content-disposition", `attachment; filename="${name}"`);
    return statementCsv(statement);
  }
  answer.header("content-security-policy", statementPolicy).header("x-content-type-options", "nosniff");
  return statementPage(statement);
}

async function named({ requireAdvertiser }: MoneyOperatorDeps, nameOrId: string) {
  const { advertiserId, name } = await requireAdvertiser(nameOrId);
  return { advertiserId, name };
}

async function balanceOf({ database }: MoneyOperatorDeps, advertiserId: string) {
  return (await moneyOfAdvertiser(database, advertiserId)).balanceMicros;
}

export function payoutRefusal(
  refused: Exclude<PayoutOutcome, { outcome: "paid" }>,
  { month, currency }: { month: string; currency: string },
): HttpError {
  switch (refused.outcome) {
    case "paid-before":
      return conflict("PAID", `everything until the end of ${refused.until} is paid already; name a later month`, {
        until: refused.until,
      });
    case "key-reused":
      return keyReused();
    case "nothing-owed":
      return conflict(
        "NOTHING_OWED",
        `nothing is owed until the end of ${month}, or less than the smallest unit of ${currency} or the least amount of a payout`,
        { month },
      );
    case "owed-otherwise":
      return otherAmountOwed(amountOf(refused.payableMicros), { month, currency });
    case "too-early":
      return monthNotOver(month);
    case "withheld":
      return withheldRefusal(refused);
  }
}

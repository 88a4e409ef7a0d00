import { billedKinds, billingLogRoutes } from "@intermission/operator-api/billing-log";
import type { Database } from "@intermission/postgres/open-database";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { notFound, refusal } from "@intermission/server/refuse";
import { serveOperatorRoutes } from "@intermission/server/serve-operator-routes";
import { advertiserAccount } from "../money/ledger.ts";
import { findStatement } from "../money/statements.ts";
import { ledgerKinds } from "./log-entry.ts";
import { type BillingLog, readCurrentLog } from "./read-log.ts";
import { openDrawn } from "./samples.ts";
import { proveEvent, proveStatement, type StatementOfProof } from "./statement-proof.ts";

interface BillingLogDeps {
  database: Database;
  requireAdvertiser(nameOrId: string): Promise<{ advertiserId: string }>;
}

const RETRY_SECONDS = 15;

/** The key of the log of billed events, and the proofs of what stands in it. */
export function billingLogOperatorRoutes(scope: CheckedScope, { database, requireAdvertiser }: BillingLogDeps): void {
  serveOperatorRoutes(scope, billingLogRoutes, {
    async showLog() {
      const { origin, verifierKey, size, publishedSize, publishedAt, checkpoint } = await requireLog(database);
      return { origin, verifierKey, entries: size, published: publishedSize, publishedAt, checkpoint };
    },

    async readProof({ params: { eventId }, query }) {
      const kinds = billedKinds.filter((kind) => ledgerKinds[kind] === (query.refund ? "refund" : "charge"));
      const proved = await proveEvent(database, { eventId, kinds });
      if (proved.outcome === "unknown")
        throw notFound(`no ${query.refund ? "refund" : "billed event"} ${eventId} stands in the log`);
      if (proved.outcome === "not-yet") throw notYet();
      return textOf(proved.proof);
    },

    async readStatementProof({ params: { advertiser, number } }, answer) {
      const { advertiserId } = await requireAdvertiser(advertiser);
      const of = await statementOf(database, { advertiserId, number });
      const proved = await proveStatement(database, { log: await requireLog(database), of });
      if (proved.outcome === "not-yet") throw notYet();
      answer.header("content-disposition", `attachment; filename="statement-${number}-proof.json"`);
      return proved.file;
    },

    async readSamples({ params: { advertiser, number }, query: { size, count } }, answer) {
      const { advertiserId } = await requireAdvertiser(advertiser);
      const of = await statementOf(database, { advertiserId, number });
      const opened = await openDrawn(database, { log: await requireLog(database), of, size, count });
      if (opened.outcome === "not-yet") throw notYet();
      answer.header("content-disposition", `attachment; filename="statement-${number}-samples.json"`);
      return textOf(opened.file);
    },
  });
}

async function* textOf(text: string): AsyncGenerator<string> {
  yield text;
}

async function requireLog(database: Database): Promise<BillingLog> {
  const log = await readCurrentLog(database);
  if (log === undefined)
    throw notFound("the log of billed events is not begun yet: the server does it after its start");
  return log;
}

function notYet(): Error {
  const headers = { "retry-after": String(RETRY_SECONDS) };
  return refusal(503, "UNAVAILABLE", "the log's newest checkpoint does not include it yet: try again in a minute", {
    headers,
  });
}

async function statementOf(
  database: Database,
  { advertiserId, number }: { advertiserId: string; number: number },
): Promise<StatementOfProof> {
  const found = await findStatement(database, { account: advertiserAccount(advertiserId), number });
  if (found === undefined) throw notFound(`there is no statement ${number} of this account`);
  const { month, currency, lines } = found;
  const sumOf = (kind: "charge" | "refund") =>
    lines.filter((line) => line.kind === kind).reduce((sum, { amountMicros }) => sum + amountMicros, 0n);
  return { number, advertiserId, month, currency, chargesMicros: -sumOf("charge"), refundsMicros: sumOf("refund") };
}

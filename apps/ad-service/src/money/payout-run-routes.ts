import { amountOf } from "@intermission/operator-api/amounts";
import { csvOf } from "@intermission/operator-api/csv";
import { inUnits } from "@intermission/operator-api/currency-units";
import { payoutRunRoutes, type RunFormat } from "@intermission/operator-api/payout-runs";
import { listPage } from "@intermission/postgres/keyset";
import { authorOf } from "@intermission/server/author-of";
import type { CheckedScope } from "@intermission/server/checked-routes";
import type { HttpError } from "@intermission/server/http-server";
import { conflict, notFound } from "@intermission/server/refuse";
import { serveOperatorRoutes } from "@intermission/server/serve-operator-routes";
import { keyReused, requestOutdated, withheldRefusal } from "./ask-approval.ts";
import type { MoneyOperatorDeps } from "./operator-routes.ts";
import { monthNotOver, otherAmountOwed } from "./payout-refusals.ts";
import { findPayoutRun, listPayoutRuns, type PayAllOutcome, payAll, type RunOfFile } from "./payout-runs.ts";
import { endToEndId, sepaFile } from "./sepa-file.ts";

/** Payouts of a month to all publishers, and their files for the bank. */
export function payoutRunOperatorRoutes(
  scope: CheckedScope,
  { database, currency, now }: Pick<MoneyOperatorDeps, "database" | "currency" | "now">,
): void {
  serveOperatorRoutes(scope, payoutRunRoutes, {
    async payAll({ body, http }) {
      const paid = await payAll(database, { ...body, currency, author: authorOf(http), now: now() });
      if (paid.outcome !== "paid") throw payAllRefusal(paid, { month: body.month, currency });
      return paid.run;
    },

    async listPayoutRuns({ query }) {
      const rows = await listPayoutRuns(database, { ...query, limit: query.limit + 1 });
      const { rows: runs, next } = listPage(rows, query.limit, ({ runId }) => runId);
      return { runs, next };
    },

    async readPayoutRun({ params: { runId }, query: { format } }, answer) {
      const run = await findPayoutRun(database, runId);
      if (run === undefined) throw notFound(`there is no run ${runId}; see all with: money runs`);
      const file = files[format](run, now());
      const { type, extension } = typeOf[format];
      answer.header("content-type", `${type}; charset=utf-8`);
      answer.header("content-disposition", `attachment; filename="payouts-${run.month}-${runId}.${extension}"`);
      return file;
    },
  });
}

const typeOf = {
  sepa: { type: "text/xml", extension: "xml" },
  csv: { type: "text/csv", extension: "csv" },
} as const satisfies Record<RunFormat, object>;

const files = { sepa: sepaText, csv: runCsv } satisfies Record<RunFormat, (run: RunOfFile, now: Date) => string>;

function sepaText(run: RunOfFile, today: Date): string {
  const made = sepaFile(run, today);
  switch (made.outcome) {
    case "file":
      return made.text;
    case "other-currency":
      throw conflict("SEPA_EUR_ONLY", `SEPA transfers are in EUR, these payouts in ${run.currency}: use the CSV`, {
        currency: run.currency,
      });
    case "debtor-unknown": {
      const message =
        "the operator had no name and account of the European Economic Area when these were recorded: use the CSV, and set them for later ones";
      throw conflict("SEPA_DEBTOR_NEEDED", message);
    }
    case "other-area": {
      const names = made.payees.join(", ");
      throw conflict(
        "SEPA_ACCOUNTS_ONLY",
        `these accounts are outside the European Economic Area, where a bank needs more than name and IBAN: ${names}; use the CSV`,
        { names },
      );
    }
    default:
      throw made satisfies never;
  }
}

function runCsv({ month, reference, currency, payments }: RunOfFile): string {
  return csvOf([
    ["month", "bot_id", "payee", "iban", "amount", "currency", "reference", "end_to_end_id"],
    ...payments.map(({ botId, amountMicros, payeeName, iban }) => {
      const amount = inUnits(amountMicros, currency);
      return [month, botId, payeeName, iban, amount, currency, reference, endToEndId(botId, month)];
    }),
  ]);
}

export function payAllRefusal(
  refused: Exclude<PayAllOutcome, { outcome: "paid" }>,
  of: { month: string; currency: string },
): HttpError {
  switch (refused.outcome) {
    case "nothing-due": {
      const message = `nothing is due for ${of.month} to a publisher with a payee: see money publishers, and set payees with: money payee`;
      return conflict("NOTHING_DUE", message, { month: of.month });
    }
    case "due-otherwise":
      return otherAmountOwed(amountOf(refused.dueMicros), of);
    case "key-reused":
      return keyReused();
    case "too-early":
      return monthNotOver(of.month);
    case "changed-since":
      return requestOutdated();
    case "withheld":
      return withheldRefusal(refused);
    default:
      throw refused satisfies never;
  }
}

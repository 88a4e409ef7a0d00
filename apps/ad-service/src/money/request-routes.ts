import { inUnits } from "@intermission/operator-api/currency-units";
import { moneyRequestRoutes } from "@intermission/operator-api/money-requests";
import { listPage } from "@intermission/postgres/keyset";
import { authorOf } from "@intermission/server/author-of";
import type { CheckedScope } from "@intermission/server/checked-routes";
import type { HttpError } from "@intermission/server/http-server";
import { conflict, notFound } from "@intermission/server/refuse";
import { serveOperatorRoutes } from "@intermission/server/serve-operator-routes";
import type { FastifyRequest } from "fastify";
import { setApprovalAmount, type TellApprovals } from "./approval-amount.ts";
import { readApprovalAmount, requestDecided, requestOutdated, withheldRefusal } from "./ask-approval.ts";
import { type AppliedOutcome, approveRequest, type DecideOutcome, refuseRequest } from "./decide-request.ts";
import { countWaiting, listRequests } from "./list-requests.ts";
import { type MoneyOperatorDeps, payoutRefusal } from "./operator-routes.ts";
import { payAllRefusal } from "./payout-run-routes.ts";

interface Deps extends Pick<MoneyOperatorDeps, "database" | "campaigns" | "currency" | "now"> {
  tell: TellApprovals;
  /** The id of the person who calls; undefined: the command line. */
  callerOf: (request: FastifyRequest) => string | undefined;
}

/** What a second person approves, and above which amount. */
export function moneyRequestOperatorRoutes(scope: CheckedScope, deps: Deps): void {
  const { database, campaigns, currency, now } = deps;
  const amountText = (micros: number | null) =>
    micros === null ? "–" : `${inUnits(BigInt(micros), currency)} ${currency}`;
  const ofAmount = { ...deps, amountText };

  const decided = async (outcome: DecideOutcome, requestId: string) => {
    if (outcome.outcome !== "decided") throw refusalOf(outcome, { requestId, currency });
    await campaigns.refresh();
    return outcome.request;
  };

  serveOperatorRoutes(scope, moneyRequestRoutes, {
    async showApprovalAmount() {
      return { aboveMicros: await readApprovalAmount(database), currency };
    },

    async setApprovalAmount({ body: { aboveMicros }, http }) {
      const set = await setApprovalAmount(ofAmount, { aboveMicros, author: authorOf(http), now: now() });
      requireAmountSet(set);
      return { aboveMicros, currency };
    },

    async listMoneyRequests({ query, http }) {
      const rows = await listRequests(database, { ...query, reader: deps.callerOf(http), limit: query.limit + 1 });
      const { rows: requests, next } = listPage(rows, query.limit, ({ requestId }) => requestId);
      return { requests, next, waiting: await countWaiting(database) };
    },

    async approveMoneyRequest({ params: { requestId }, http }) {
      const of = { requestId, author: authorOf(http), currency, now: now() };
      return decided(await approveRequest(ofAmount, of), requestId);
    },

    async refuseMoneyRequest({ params: { requestId }, body: { reason }, http }) {
      return decided(await refuseRequest(database, { requestId, reason, author: authorOf(http) }), requestId);
    },
  });
}

function refusalOf(
  refused: Exclude<DecideOutcome, { outcome: "decided" }>,
  { requestId, currency }: { requestId: string; currency: string },
): HttpError {
  switch (refused.outcome) {
    case "unknown":
      return notFound(`there is no request ${requestId}; see all with: money requests`);
    case "decided-before":
      return requestDecided(refused.state);
    case "nobody":
      return conflict("PERSON_NEEDED", "a person approves: sign in to the console; the command line is nobody");
    case "own":
      return conflict("OWN_REQUEST", "another person approves what you have asked for, or approved already");
    case "owner-needed":
      return conflict("OWNER_NEEDED", "an owner approves a change of this setting");
    case "other-currency":
      return requestOutdated();
    case "not-applied":
      return appliedRefusal(refused.applied, currency);
    default:
      throw refused satisfies never;
  }
}

/** Why what was approved could not be recorded. */
function appliedRefusal(applied: AppliedOutcome, currency: string): HttpError {
  switch (applied.operation) {
    case "recordPayout":
      return applied.of.outcome === "paid" ? requestOutdated() : payoutRefusal(applied.of, { ...applied, currency });
    case "payAll":
      return applied.of.outcome === "paid" ? requestOutdated() : payAllRefusal(applied.of, { ...applied, currency });
    case "setTerms":
    case "recordTopUp":
    case "correctAdvertiser":
    case "correctPublisher":
    case "creditHeldPayment":
    case "setApprovalAmount":
      return requestOutdated();
    default:
      throw applied satisfies never;
  }
}

function requireAmountSet(set: Awaited<ReturnType<typeof setApprovalAmount>>): void {
  switch (set.outcome) {
    case "set":
      return;
    case "withheld":
      throw withheldRefusal(set);
    case "owners-needed":
      throw conflict(
        "TWO_OWNERS_NEEDED",
        "two owners who have accepted their invitations are needed: one alone could approve nothing; invite one with: people invite",
      );
    case "changed-since":
      throw requestOutdated();
    default:
      throw set satisfies never;
  }
}

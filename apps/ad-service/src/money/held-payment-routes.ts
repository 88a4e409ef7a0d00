import { heldPaymentRoutes } from "@intermission/operator-api/held-payments";
import { listPage } from "@intermission/postgres/keyset";
import { authorOf } from "@intermission/server/author-of";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { conflict, notFound } from "@intermission/server/refuse";
import { serveOperatorRoutes } from "@intermission/server/serve-operator-routes";
import type { FastifyRequest } from "fastify";
import { withheldRefusal } from "./ask-approval.ts";
import { decideHeldPayment, listHeldPayments } from "./held-payments.ts";
import type { MoneyOperatorDeps } from "./operator-routes.ts";

/** Payments that a provider has reported, and that a person decides about. */
export function heldPaymentOperatorRoutes(
  scope: CheckedScope,
  { database, campaigns, now }: Pick<MoneyOperatorDeps, "database" | "campaigns" | "now">,
): void {
  const decide = async (http: FastifyRequest, heldId: string, state: "credited" | "dismissed") => {
    const decided = await decideHeldPayment(database, { heldId, state, author: authorOf(http), now: now() });
    switch (decided.outcome) {
      case "decided":
        await campaigns.refresh();
        return decided.payment;
      case "unknown":
        throw unknownPayment(heldId);
      case "decided-before":
        throw conflict("PAYMENT_DECIDED", `this payment is ${decided.state} already`, { state: decided.state });
      case "not-creditable": {
        const message = "this payment is known with other values: correct the account, then dismiss this report";
        throw conflict("PAYMENT_NOT_CREDITABLE", message);
      }
      case "withheld":
        throw withheldRefusal(decided);
      default:
        throw decided satisfies never;
    }
  };

  serveOperatorRoutes(scope, heldPaymentRoutes, {
    async listHeldPayments({ query }) {
      const rows = await listHeldPayments(database, { ...query, limit: query.limit + 1 });
      const { rows: payments, next } = listPage(rows, query.limit, ({ heldId }) => heldId);
      return { payments, next };
    },
    creditHeldPayment: ({ params, http }) => decide(http, params.heldId, "credited"),
    dismissHeldPayment: ({ params, http }) => decide(http, params.heldId, "dismissed"),
  });
}

function unknownPayment(heldId: string) {
  return notFound(`there is no held payment ${heldId}; see all with: money held`);
}

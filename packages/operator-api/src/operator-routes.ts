import type { Role } from "./access.ts";
import { accountRoutes } from "./account.ts";
import { advertiserRoutes } from "./advertisers.ts";
import { alertRoutes } from "./alerts.ts";
import { auditRoutes } from "./audit.ts";
import { billingLogRoutes } from "./billing-log.ts";
import { tokenRoutes } from "./bot-tokens.ts";
import { botRoutes } from "./bots.ts";
import { boughtCreativeRoutes } from "./bought-creatives.ts";
import { buyerRoutes } from "./buyers.ts";
import { campaignReviewRoutes } from "./campaign-reviews.ts";
import { campaignRoutes } from "./campaigns.ts";
import { conversionRoutes } from "./conversions.ts";
import { creativeRoutes } from "./creatives.ts";
import { currencyRoutes } from "./currency.ts";
import { deliveryRoutes } from "./deliveries.ts";
import { endpointRoutes } from "./endpoints.ts";
import { eventRoutes } from "./events.ts";
import { explainRoutes } from "./explain.ts";
import { heldPaymentRoutes } from "./held-payments.ts";
import { moneyRoutes } from "./money.ts";
import { moneyRequestRoutes } from "./money-requests.ts";
import { noticeRoutes } from "./notices.ts";
import type { ObjectKind } from "./object-kinds.ts";
import { ordRoutes } from "./ord.ts";
import { partyRoutes } from "./parties.ts";
import { partnerReportRoutes } from "./partner-reports.ts";
import { payoutRunRoutes } from "./payout-runs.ts";
import { peopleRoutes } from "./people.ts";
import { publisherMoneyRoutes } from "./publisher-money.ts";
import { clickRoutes, viewRoutes } from "./reviews.ts";
import type { OperatorRoute } from "./route.ts";
import { sampleRoutes } from "./sample.ts";
import { savedReportRoutes } from "./saved-reports.ts";
import { sessionRoutes } from "./session.ts";
import { signInMethodRoutes } from "./sign-in-methods.ts";
import { sourceOrderRoutes } from "./source-orders.ts";
import { statementRoutes } from "./statements.ts";
import { statisticsRoutes } from "./statistics.ts";
import { statusRoutes } from "./status.ts";
import { taskRoutes } from "./tasks.ts";
import { userRoutes } from "./users.ts";

/**
 * Every route of `/operator/v1` by its operation's name: the server registers its handlers from it, clients make their
 * requests from it, and the OpenAPI document is made from it.
 */
export const operatorRoutes = {
  ...botRoutes,
  ...tokenRoutes,
  ...creativeRoutes,
  ...campaignRoutes,
  ...campaignReviewRoutes,
  ...buyerRoutes,
  ...boughtCreativeRoutes,
  ...partnerReportRoutes,
  ...sourceOrderRoutes,
  ...currencyRoutes,
  ...advertiserRoutes,
  ...moneyRoutes,
  ...moneyRequestRoutes,
  ...publisherMoneyRoutes,
  ...statementRoutes,
  ...heldPaymentRoutes,
  ...billingLogRoutes,
  ...partyRoutes,
  ...ordRoutes,
  ...payoutRunRoutes,
  ...explainRoutes,
  ...eventRoutes,
  ...deliveryRoutes,
  ...endpointRoutes,
  ...noticeRoutes,
  ...viewRoutes,
  ...clickRoutes,
  ...conversionRoutes,
  ...taskRoutes,
  ...statisticsRoutes,
  ...savedReportRoutes,
  ...statusRoutes,
  ...userRoutes,
  ...sessionRoutes,
  ...peopleRoutes,
  ...signInMethodRoutes,
  ...accountRoutes,
  ...alertRoutes,
  ...auditRoutes,
  ...sampleRoutes,
};

export type OperatorRouteName = keyof typeof operatorRoutes;

/** The routes that may change something, and so leave an entry in the audit trail. */
export type ChangingRouteName = {
  [Name in OperatorRouteName]: (typeof operatorRoutes)[Name] extends { changes: ObjectKind } ? Name : never;
}[OperatorRouteName];

export function isChanging(route: string | undefined): route is ChangingRouteName {
  const named: OperatorRoute | undefined =
    route !== undefined && isRouteName(route) ? operatorRoutes[route] : undefined;
  return named !== undefined && named.method !== "GET" && named.changes !== null;
}

export function isRouteName(name: string): name is OperatorRouteName {
  return Object.hasOwn(operatorRoutes, name);
}

/** The routes that a role may use at all: on which objects, the rule decides for each request. */
export function routesOf(role: Role): OperatorRouteName[] {
  const routes = Object.entries<OperatorRoute>(operatorRoutes) as [OperatorRouteName, OperatorRoute][];
  return routes.filter(([, { access }]) => typeof access === "string" || role in access).map(([name]) => name);
}

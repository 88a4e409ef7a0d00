import { advertiserRoutes } from "./advertisers.ts";
import { auditRoutes } from "./audit.ts";
import { botRoutes, tokenRoutes } from "./bots.ts";
import { campaignRoutes } from "./campaigns.ts";
import { conversionRoutes } from "./conversions.ts";
import { creativeRoutes } from "./creatives.ts";
import { currencyRoutes } from "./currency.ts";
import { deliveryRoutes } from "./deliveries.ts";
import { endpointRoutes } from "./endpoints.ts";
import { eventRoutes } from "./events.ts";
import { explainRoutes } from "./explain.ts";
import { moneyRoutes } from "./money.ts";
import { noticeRoutes } from "./notices.ts";
import { peopleRoutes } from "./people.ts";
import { clickRoutes, viewRoutes } from "./reviews.ts";
import { sampleRoutes } from "./sample.ts";
import { savedReportRoutes } from "./saved-reports.ts";
import { signInMethodRoutes } from "./sign-in-methods.ts";
import { statisticsRoutes } from "./statistics.ts";
import { statusRoutes } from "./status.ts";
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
  ...currencyRoutes,
  ...advertiserRoutes,
  ...moneyRoutes,
  ...explainRoutes,
  ...eventRoutes,
  ...deliveryRoutes,
  ...endpointRoutes,
  ...noticeRoutes,
  ...viewRoutes,
  ...clickRoutes,
  ...conversionRoutes,
  ...statisticsRoutes,
  ...savedReportRoutes,
  ...statusRoutes,
  ...userRoutes,
  ...peopleRoutes,
  ...signInMethodRoutes,
  ...auditRoutes,
  ...sampleRoutes,
};

export type OperatorRouteName = keyof typeof operatorRoutes;

type PostedRouteName = {
  [Name in OperatorRouteName]: (typeof operatorRoutes)[Name]["method"] extends "GET" ? never : Name;
}[OperatorRouteName];

/** Routes that change nothing: a body keeps a token or an address out of logs, or the answer differs each time. */
export const unrecordedRoutes = [
  "openInvitation",
  "startOpenIdSignIn",
  "startLinkingIdentity",
  "startPasskeySignIn",
  "startAddingPasskey",
  "tryVastTag",
] as const satisfies readonly PostedRouteName[];

/** The routes that may change something, and so leave an entry in the audit trail. */
export type ChangingRouteName = Exclude<PostedRouteName, (typeof unrecordedRoutes)[number]>;

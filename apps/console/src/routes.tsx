/**
 * The screens: one folder and one route for each. A screen is loaded when it is opened. To add one: its folder, its route
 * here, its section in `shell/sections.ts`.
 */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { lazy } from "react";
import { advertisersSearch } from "./advertisers/search.ts";
import { approvalsSearch } from "./approvals/search.ts";
import { auditSearch } from "./audit/search.ts";
import { botSearch, botsSearch } from "./bots/search.ts";
import { campaignsSearch } from "./campaigns/search.ts";
import { conversionsSearch } from "./conversions/search.ts";
import { creativesSearch, vastSearch } from "./creatives/search.ts";
import { explainSearch } from "./explain/search.ts";
import { parseAddress, writeAddress } from "./operator/address-search.ts";
import { orUnreachable } from "./operator/reach-server.ts";
import { payoutsSearch } from "./payouts/search.ts";
import { peopleSearch } from "./people/search.ts";
import { publisherSearch } from "./publisher/search.ts";
import { reportsSearch } from "./reports/search.ts";
import { reviewsSearch } from "./reviews/search.ts";
import { NoPage } from "./shell/no-page.tsx";
import { Root, Shell } from "./shell/shell.tsx";
import { systemSearch } from "./system/search.ts";
import { tasksSearch } from "./tasks/search.ts";
import { timelineSearch } from "./timeline/search.ts";
import { Skeleton } from "./ui/answer-view.tsx";

/** Passed on, since it is made of what the screens have. */
const loadFinder = () => import("./finder/finder.tsx");
const Finder = lazy(async () => ({ default: (await loadFinder()).Finder }));
const root = createRootRoute({ component: Root });
const shell = createRoute({
  getParentRoute: () => root,
  id: "shell",
  component: () => <Shell finder={Finder} loadFinder={loadFinder} />,
  notFoundComponent: NoPage,
});
const under = { getParentRoute: () => shell } as const;

/** A screen that is loaded when it is opened. */
const screen: typeof lazyRouteComponent = (load, exportName) => lazyRouteComponent(orUnreachable(load), exportName);

const invitation = createRoute({
  getParentRoute: () => root,
  path: "/invitation",
  component: screen(() => import("./session/invitation-screen.tsx"), "InvitationScreen"),
});
const signInLink = createRoute({
  getParentRoute: () => root,
  path: "/sign-in-link",
  component: screen(() => import("./session/sign-in-link-screen.tsx"), "SignInLinkScreen"),
});
const openId = createRoute({
  getParentRoute: () => root,
  path: "/openid",
  component: screen(() => import("./session/openid-screen.tsx"), "OpenIdScreen"),
});
const emailChange = createRoute({
  getParentRoute: () => root,
  path: "/email",
  component: screen(() => import("./session/email-screen.tsx"), "EmailScreen"),
});
const overview = createRoute({
  ...under,
  path: "/",
  component: screen(() => import("./overview/overview-screen.tsx"), "OverviewScreen"),
});
const campaigns = createRoute({
  ...under,
  path: "/campaigns",
  validateSearch: campaignsSearch,
  component: screen(() => import("./campaigns/campaigns-screen.tsx"), "CampaignsScreen"),
});
const newCampaign = createRoute({
  ...under,
  path: "/campaigns/new",
  component: screen(() => import("./campaigns/new-campaign-screen.tsx"), "NewCampaignScreen"),
});
const campaign = createRoute({
  ...under,
  path: "/campaigns/$campaignId",
  component: screen(() => import("./campaigns/campaign-screen.tsx"), "CampaignScreen"),
});
const creatives = createRoute({
  ...under,
  path: "/creatives",
  validateSearch: creativesSearch,
  component: screen(() => import("./creatives/creatives-screen.tsx"), "CreativesScreen"),
});
const creativeQueue = createRoute({
  ...under,
  path: "/approval",
  component: screen(() => import("./creatives/queue-screen.tsx"), "QueueScreen"),
});
const campaignQueue = createRoute({
  ...under,
  path: "/approval/campaigns",
  component: screen(() => import("./campaigns/queue-screen.tsx"), "CampaignQueueScreen"),
});
const vastTester = createRoute({
  ...under,
  path: "/creatives/vast",
  validateSearch: vastSearch,
  component: screen(() => import("./creatives/vast-screen.tsx"), "VastScreen"),
});
const creative = createRoute({
  ...under,
  path: "/creatives/$creativeId",
  component: screen(() => import("./creatives/creative-screen.tsx"), "CreativeScreen"),
});
const explain = createRoute({
  ...under,
  path: "/explain",
  validateSearch: explainSearch,
  component: screen(() => import("./explain/explain-screen.tsx"), "ExplainScreen"),
});
const bots = createRoute({
  ...under,
  path: "/bots",
  validateSearch: botsSearch,
  component: screen(() => import("./bots/bots-screen.tsx"), "BotsScreen"),
});
const newBot = createRoute({
  ...under,
  path: "/bots/new",
  component: screen(() => import("./bots/new-bot-screen.tsx"), "NewBotScreen"),
});
const bot = createRoute({
  ...under,
  path: "/bots/$botId",
  validateSearch: botSearch,
  component: screen(() => import("./bots/bot-screen.tsx"), "BotScreen"),
});
const advertisers = createRoute({
  ...under,
  path: "/advertisers",
  validateSearch: advertisersSearch,
  component: screen(() => import("./advertisers/advertisers-screen.tsx"), "AdvertisersScreen"),
});
const advertiser = createRoute({
  ...under,
  path: "/advertisers/$advertiserId",
  component: screen(() => import("./advertisers/advertiser-screen.tsx"), "AdvertiserScreen"),
});
const buyers = createRoute({
  ...under,
  path: "/buyers",
  component: screen(() => import("./buyers/buyers-screen.tsx"), "BuyersScreen"),
});
const buyer = createRoute({
  ...under,
  path: "/buyers/$buyerId",
  component: screen(() => import("./buyers/buyer-screen.tsx"), "BuyerScreen"),
});
const payouts = createRoute({
  ...under,
  path: "/payouts",
  validateSearch: payoutsSearch,
  component: screen(() => import("./payouts/payouts-screen.tsx"), "PayoutsScreen"),
});
const approvals = createRoute({
  ...under,
  path: "/approvals",
  validateSearch: approvalsSearch,
  component: screen(() => import("./approvals/approvals-screen.tsx"), "ApprovalsScreen"),
});
const filings = createRoute({
  ...under,
  path: "/filings",
  component: screen(() => import("./filings/filings-screen.tsx"), "FilingsScreen"),
});
const timeline = createRoute({
  ...under,
  path: "/timeline",
  validateSearch: timelineSearch,
  component: screen(() => import("./timeline/timeline-screen.tsx"), "TimelineScreen"),
});
const reviews = createRoute({
  ...under,
  path: "/reviews",
  validateSearch: reviewsSearch,
  component: screen(() => import("./reviews/reviews-screen.tsx"), "ReviewsScreen"),
});
const conversions = createRoute({
  ...under,
  path: "/conversions",
  validateSearch: conversionsSearch,
  component: screen(() => import("./conversions/conversions-screen.tsx"), "ConversionsScreen"),
});
const tasks = createRoute({
  ...under,
  path: "/tasks",
  validateSearch: tasksSearch,
  component: screen(() => import("./tasks/tasks-screen.tsx"), "TasksScreen"),
});
const publisher = createRoute({
  ...under,
  path: "/publisher",
  validateSearch: publisherSearch,
  component: screen(() => import("./publisher/publisher-screen.tsx"), "PublisherScreen"),
});
const reports = createRoute({
  ...under,
  path: "/reports",
  validateSearch: reportsSearch,
  component: screen(() => import("./reports/reports-screen.tsx"), "ReportsScreen"),
});
const people = createRoute({
  ...under,
  path: "/people",
  validateSearch: peopleSearch,
  component: screen(() => import("./people/people-screen.tsx"), "PeopleScreen"),
});
const audit = createRoute({
  ...under,
  path: "/audit",
  validateSearch: auditSearch,
  component: screen(() => import("./audit/audit-screen.tsx"), "AuditScreen"),
});
const system = createRoute({
  ...under,
  path: "/system",
  validateSearch: systemSearch,
  component: screen(() => import("./system/system-screen.tsx"), "SystemScreen"),
});
const account = createRoute({
  ...under,
  path: "/account",
  component: screen(() => import("./account/account-screen.tsx"), "AccountScreen"),
});
const alerts = createRoute({
  ...under,
  path: "/alerts",
  component: screen(() => import("./alerts/alerts-screen.tsx"), "AlertsScreen"),
});
const unknown = createRoute({ ...under, path: "$", component: NoPage });

export const router = createRouter({
  routeTree: root.addChildren([
    invitation,
    signInLink,
    openId,
    emailChange,
    // biome-ignore format: packed
    shell.addChildren([
      overview, campaigns, newCampaign, campaign, bots, newBot, bot, explain,
      creatives, creativeQueue, campaignQueue, vastTester, creative, buyers, buyer,
      advertisers, advertiser, payouts, approvals, filings, people, audit, system, account, alerts,
      timeline, reviews, conversions, tasks, publisher, reports,
      unknown,
    ]),
  ]),
  basepath: "/console",
  parseSearch: parseAddress,
  stringifySearch: writeAddress,
  defaultPreload: "intent",
  defaultPendingComponent: () => <Skeleton rows={6} />,
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}

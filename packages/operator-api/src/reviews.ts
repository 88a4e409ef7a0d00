import { momentInput, telegramId } from "@intermission/ad-core/wire-fields";
import { z } from "zod";
import { grants } from "./access.ts";
import { forms } from "./field-forms.ts";
import { after, confirmation, listLimit, moment, next } from "./fields.ts";
import type { OperatorRoutes } from "./route.ts";
import { clickSuspicions, viewSuspicions } from "./suspicions.ts";

/** Which suspicious views or clicks; absent fields select all. */
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

const eightHex = z.string().regex(forms.HEX_KEY, "must be 8 hex digits, as the list shows it").optional();
const clickFilter = reviewFilter
  .extend({ address: eightHex, network: eightHex })
  .meta({ examples: [{ botId: "7000000001", suspicion: "crowded-network", network: "5f1c09aa" }] });

/** How a view that was watched ends: paid, or held or refused as suspicious. */
export const endedViewState = z.enum(["rewarded", "held", "refused"]);
export type EndedViewState = z.output<typeof endedViewState>;

/** `counted`: paid anyway, by the bot's setting or by release. */
export const clickState = z.enum(["counted", "held", "refused"]);
export type ClickState = z.output<typeof clickState>;

/** What is decided about many suspicious views or clicks: held ones are released or refused, paid ones are refunded. */
export type BulkDecision = "release" | "refuse" | "refund";

export const storedViewState = z.enum(["opened", "playing", "watched", "rewarded", "held", "refused"]);
export type StoredViewState = z.output<typeof storedViewState>;

/** What ended a view. */
export const closeReason = z.enum(["tap", "page-hidden", "heartbeat-lost", "deadline", "reopened"]);
export type CloseReason = z.output<typeof closeReason>;

const suspiciousView = z.object({
  botId: z.string(),
  sessionId: z.string(),
  userId: z.string(),
  code: z.string(),
  campaignId: z.string(),
  state: storedViewState.describe("`rewarded`: paid despite the suspicions, by the bot's setting or by release."),
  suspicions: z.array(z.enum(viewSuspicions)),
  closedAt: moment.nullable(),
  closeReason: closeReason.nullable(),
  decidedAt: moment.nullable(),
  refundedAt: moment.nullable(),
});
export type SuspiciousView = z.output<typeof suspiciousView>;

const suspiciousClick = z.object({
  botId: z.string(),
  clickId: z.string(),
  userId: z.string(),
  code: z.string(),
  campaignId: z.string().nullable(),
  state: clickState.describe("`counted`: paid anyway, by the bot's setting or by release."),
  suspicions: z.array(z.enum(clickSuspicions)),
  userAgent: z.string(),
  address: z.string().nullable().describe("Equal for clicks from one address on one day (UTC); it has no other use."),
  network: z.string().nullable(),
  occurredAt: moment,
  decidedAt: moment.nullable(),
  refundedAt: moment.nullable(),
});
export type SuspiciousClick = z.output<typeof suspiciousClick>;

/** Each decision of a bulk request is a transaction of its own. */
const BULK_MS = 5 * 60_000;

const bulkAnswer = z.object({
  decided: z.int().describe("How many this request has decided."),
  skipped: z.int().describe("How many another operator decided meanwhile."),
  left: z.int().describe("How many match the filter and are not decided; repeat the request."),
});
export type BulkAnswer = z.infer<typeof bulkAnswer>;
const bulk = { query: confirmation, answer: bulkAnswer, refusals: [409], answerTimeoutMs: BULK_MS } as const;

const eventId = z.string().optional().describe("What it earned, if it was released.");
const refund = { campaignId: z.string(), refundedMicros: z.number(), currency: z.string() };

const viewParams = z.object({ sessionId: z.string().min(1).max(64) });
const decidedView = z.object({ sessionId: z.string(), state: z.enum(["rewarded", "refused"]), eventId });

export const viewRoutes = {
  listViews: {
    method: "GET",
    path: "/views",
    access: grants.readers,
    description: "Lists suspicious views, the latest first.",
    query: z.object({
      ...reviewFilter.shape,
      state: endedViewState.optional(),
      after,
      limit: listLimit,
    }),
    answer: z.object({ views: z.array(suspiciousView), next }),
  },
  releaseView: {
    method: "POST",
    path: "/views/:sessionId/release",
    access: grants.staff,
    changes: "view",
    description: "Pays a held view: it earns and is charged.",
    params: viewParams,
    answer: decidedView,
    refusals: [409],
  },
  refuseView: {
    method: "POST",
    path: "/views/:sessionId/refuse",
    access: grants.staff,
    changes: "view",
    description: "Refuses a held view: it earns nothing.",
    params: viewParams,
    answer: decidedView,
    refusals: [409],
  },
  refundView: {
    method: "POST",
    path: "/views/:sessionId/refund",
    access: grants.staff,
    changes: "view",
    description: "Returns a view's charge to its campaign.",
    params: viewParams,
    answer: z.object({ sessionId: z.string(), ...refund }),
    refusals: [409],
  },
  releaseViews: {
    method: "POST",
    path: "/views/release",
    access: grants.staff,
    changes: "view",
    description: "Pays the held views that match.",
    body: reviewFilter,
    ...bulk,
  },
  refuseViews: {
    method: "POST",
    path: "/views/refuse",
    access: grants.staff,
    changes: "view",
    description: "Refuses the held views that match.",
    body: reviewFilter,
    ...bulk,
  },
  refundViews: {
    method: "POST",
    path: "/views/refund",
    access: grants.staff,
    changes: "view",
    description: "Returns the charges of suspicious views that match.",
    body: reviewFilter,
    ...bulk,
  },
} as const satisfies OperatorRoutes;

const clickParams = z.object({ clickId: z.string().min(1).max(64) });
const decidedClick = z.object({ clickId: z.string(), state: z.enum(["counted", "refused"]), eventId });

export const clickRoutes = {
  listClicks: {
    method: "GET",
    path: "/clicks",
    access: grants.readers,
    description: "Lists suspicious clicks of direct links, the latest first.",
    query: z.object({
      ...clickFilter.shape,
      state: clickState.optional(),
      after,
      limit: listLimit,
    }),
    answer: z.object({ clicks: z.array(suspiciousClick), next }),
  },
  releaseClick: {
    method: "POST",
    path: "/clicks/:clickId/release",
    access: grants.staff,
    changes: "click",
    description: "Counts a held click: it earns and is charged.",
    params: clickParams,
    answer: decidedClick,
    refusals: [409],
  },
  refuseClick: {
    method: "POST",
    path: "/clicks/:clickId/refuse",
    access: grants.staff,
    changes: "click",
    description: "Refuses a held click: it earns nothing.",
    params: clickParams,
    answer: decidedClick,
    refusals: [409],
  },
  refundClick: {
    method: "POST",
    path: "/clicks/:clickId/refund",
    access: grants.staff,
    changes: "click",
    description: "Returns a click's charge to its campaign.",
    params: clickParams,
    answer: z.object({ clickId: z.string(), ...refund }),
    refusals: [409],
  },
  releaseClicks: {
    method: "POST",
    path: "/clicks/release",
    access: grants.staff,
    changes: "click",
    description: "Counts the held clicks that match.",
    body: clickFilter,
    ...bulk,
  },
  refuseClicks: {
    method: "POST",
    path: "/clicks/refuse",
    access: grants.staff,
    changes: "click",
    description: "Refuses the held clicks that match.",
    body: clickFilter,
    ...bulk,
  },
  refundClicks: {
    method: "POST",
    path: "/clicks/refund",
    access: grants.staff,
    changes: "click",
    description: "Returns the charges of suspicious clicks that match.",
    body: clickFilter,
    ...bulk,
  },
} as const satisfies OperatorRoutes;

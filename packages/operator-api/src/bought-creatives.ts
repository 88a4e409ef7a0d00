import { z } from "zod";
import { grants } from "./access.ts";
import { boughtReviewStates } from "./creative-words.ts";
import { after, boundedText, listLimit, moment, next } from "./fields.ts";
import type { OperatorRoutes } from "./route.ts";

const boughtCreative = z.object({
  boughtCreativeId: z.string(),
  buyerId: z.string(),
  buyer: z.string().describe("Its name."),
  seat: z.string().nullable(),
  creativeId: z.string().nullable().describe("The buyer's own id of it, `crid`."),
  domains: z
    .array(z.string())
    .describe("Of the advertiser: all that its bids have named. A new one sends it back to the queue."),
  categories: z.array(z.string()),
  advertiser: z.string().nullable(),
  title: z.string().nullable(),
  mediaUrl: z.string().describe("The latest file that was offered."),
  mediaType: z.string(),
  width: z.int(),
  height: z.int(),
  durationMs: z.int(),
  landingUrl: z.string().nullable(),
  landingHosts: z.array(z.string()).describe("All that its ads have led to. A new one sends it back to the queue."),
  review: z.enum(boughtReviewStates),
  reviewReason: z.string().nullable(),
  revision: z.int().describe("Raised when a file, a landing host or a domain is new."),
  offered: z.int().describe("How often it was offered while it waited."),
  firstSeenLimit: z.int().describe("How often it may be, before it is approved."),
  reports: z.int().describe("Viewers who have reported it since the last review."),
  firstSeenAt: moment,
  lastSeenAt: moment,
  reviewedAt: moment.nullable(),
});
export type BoughtCreative = z.output<typeof boughtCreative>;

const params = z.object({
  boughtCreativeId: z.string().regex(/^bcr_[0-9a-f]{32}$/, "must be an id as the list shows it"),
});
const revision = z.int().min(1).describe("Of what the reviewer has seen. If it has changed since, nothing is decided.");

export const boughtCreativeRoutes = {
  listBoughtCreatives: {
    method: "GET",
    path: "/bought-creatives",
    access: grants.readers,
    description: "Lists what buyers have bid with.",
    query: z.object({
      buyerId: z.string().max(64).optional().describe("Of one buyer."),
      review: z
        .enum(["queue", ...boughtReviewStates])
        .optional()
        .describe("`queue`: what waits for a person, and what viewers have reported."),
      after,
      limit: listLimit,
    }),
    answer: z.object({
      waiting: z.int().describe("How many are in the queue, of all buyers."),
      creatives: z.array(boughtCreative).describe("The one that was seen first comes first."),
      next,
    }),
  },
  approveBoughtCreative: {
    method: "POST",
    path: "/bought-creatives/:boughtCreativeId/approve",
    access: grants.staff,
    changes: "bought-creative",
    description: "Lets a bought creative be shown without a limit.",
    params,
    body: z.strictObject({ revision }).meta({ examples: [{ revision: 1 }] }),
    answer: boughtCreative,
    refusals: [409],
  },
  refuseBoughtCreative: {
    method: "POST",
    path: "/bought-creatives/:boughtCreativeId/refuse",
    access: grants.staff,
    changes: "bought-creative",
    description: "Keeps a bought creative from being shown on all nodes, whoever bids with it again.",
    params,
    body: z
      .strictObject({ revision, reason: boundedText(500).describe("For the other reviewers.") })
      .meta({ examples: [{ revision: 1, reason: "Promises money" }] }),
    answer: boughtCreative,
    refusals: [409],
  },
  reopenBoughtCreative: {
    method: "POST",
    path: "/bought-creatives/:boughtCreativeId/reopen",
    access: grants.staff,
    changes: "bought-creative",
    description: "Takes a decision back: the bought creative waits for a review again.",
    params,
    body: z.strictObject({ revision }).meta({ examples: [{ revision: 1 }] }),
    answer: boughtCreative,
    refusals: [409],
  },
} as const satisfies OperatorRoutes;

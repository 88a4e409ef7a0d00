import { momentInput } from "@intermission/ad-core/wire-fields";
import { z } from "zod";
import { grants } from "./access.ts";
import { campaignFormats } from "./campaign-words.ts";
import { campaign, campaignSettings, formatsOf, targeting } from "./campaigns.ts";
import { boundedText, confirmation, idempotencyKey, namesSetting, nothingToChange, ofReadVersion } from "./fields.ts";
import { formKinds } from "./form-kinds.ts";
import type { OperatorRoutes } from "./route.ts";

/** Settings that an advertiser may change. The operator sets priority, weight, category and bots. */
export const advertiserSettings = campaignSettings
  .pick({
    name: true,
    pacing: true,
    startsAt: true,
    endsAt: true,
    landingUrl: true,
    callToAction: true,
    viewPriceMicros: true,
    clickPriceMicros: true,
    totalBudgetMicros: true,
    dailyBudgetMicros: true,
    totalViewCap: true,
    dailyViewCap: true,
    totalClickCap: true,
    dailyClickCap: true,
    userCap: true,
    userCapSeconds: true,
  })
  .extend({ targeting: targeting.omit({ bots: true, excludedBots: true }) });

/** A change of one of these settings sends the campaign back to approval. */
export const reviewedSettings = ["landingUrl", "callToAction", "targeting"] as const satisfies (keyof z.infer<
  typeof advertiserSettings
>)[];

/** Tasks need a task bot of the operator. */
const draftFormats = campaignFormats.filter((format) => format !== "task");

const params = z.object({ campaignId: z.string().max(64) });
const expectedUpdatedAt = momentInput.describe("The `updatedAt` of the campaign that was looked at.");
const priced = campaignSettings.pick({ priority: true, category: true, viewPriceMicros: true, clickPriceMicros: true });
const lookedAt = "2026-03-01T12:00:00.000Z";

/** An advertiser's own campaigns: it drafts, revises and submits them, and an operator decides. */
export const campaignReviewRoutes = {
  draftCampaign: {
    method: "POST",
    path: "/campaigns/drafts",
    access: { ...grants.staff, ...grants.ownAdvertiser },
    changes: "campaign",
    description: "Adds a campaign of an advertiser as a draft. It runs once it was submitted and approved.",
    query: confirmation.extend({ advertiser: boundedText(128).describe("Its id, or its name in any case.") }),
    body: advertiserSettings
      .partial()
      .extend({
        name: advertiserSettings.shape.name,
        formats: formatsOf(draftFormats),
        creativeIds: z
          .array(z.string().max(64))
          .max(100)
          .register(formKinds, { kind: "videos" })
          .default([])
          .describe("Of the advertiser's own."),
        idempotencyKey,
      })
      .meta({ examples: [{ name: "Spring sale", formats: ["direct_link"], landingUrl: "https://shop.example/" }] }),
    status: 201,
    answer: campaign,
    refusals: [409],
  },
  reviseCampaign: {
    method: "PATCH",
    path: "/campaigns/:campaignId/draft",
    access: { ...grants.staff, ...grants.ownCampaign },
    changes: "campaign",
    description:
      "Changes settings of a campaign that its advertiser has drafted. With another landing page, call to action or target, one that was approved waits for approval again, and is not shown until then.",
    params,
    query: ofReadVersion,
    body: advertiserSettings
      .partial()
      .refine(namesSetting, nothingToChange)
      .meta({ examples: [{ dailyBudgetMicros: 8_000_000, endsAt: null }] }),
    answer: campaign,
    refusals: [409],
  },
  submitCampaign: {
    method: "POST",
    path: "/campaigns/:campaignId/submit",
    access: { ...grants.staff, ...grants.ownCampaign },
    changes: "campaign",
    description: "Submits a drafted campaign, or a refused one again, for approval, with its videos that are drafts.",
    params,
    answer: campaign,
    refusals: [409],
  },
  approveCampaign: {
    method: "POST",
    path: "/campaigns/:campaignId/approve",
    access: grants.staff,
    changes: "campaign",
    description:
      "Lets a campaign of an advertiser run, at the prices that it has or that are set here. What somebody has paused stays paused.",
    params,
    body: priced
      .partial()
      .extend({ expectedUpdatedAt })
      .meta({ examples: [{ expectedUpdatedAt: lookedAt, viewPriceMicros: 12_000 }] }),
    answer: campaign,
    refusals: [409],
  },
  refuseCampaign: {
    method: "POST",
    path: "/campaigns/:campaignId/refuse",
    access: grants.staff,
    changes: "campaign",
    description: "Keeps a campaign of an advertiser from running, or stops it, with a reason for its advertiser.",
    params,
    body: z
      .strictObject({ expectedUpdatedAt, reason: boundedText(500).describe("For its advertiser.") })
      .meta({ examples: [{ expectedUpdatedAt: lookedAt, reason: "The landing page does not open" }] }),
    answer: campaign,
    refusals: [409],
  },
} as const satisfies OperatorRoutes;

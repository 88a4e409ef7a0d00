import { z } from "zod";
import { category } from "../bots/category.ts";
import { checkLandingUrl } from "./check-landing-url.ts";
import { targeting } from "./targeting.ts";

export const text = (most: number) =>
  z
    .string("is needed")
    .trim()
    .min(1, `must have 1 to ${most} characters`)
    .max(most, `must have 1 to ${most} characters`);
const price = z.int("must be a whole number of micros").min(0, "must be 0 or more").max(1e12, "is too large");
const limit = z.int("must be a whole number").min(1, "must be 1 or more, or none").max(1e15, "is too large").nullable();
const moment = z.coerce.date("must be a moment, as 2026-01-31T08:00:00Z").nullable();

const landingUrl = z.string().transform((url, context) => {
  const checked = checkLandingUrl(url);
  if (checked.outcome === "valid") return checked.url;
  context.addIssue({ code: "custom", message: checked.message });
  return z.NEVER;
});

/** What an operator says about a campaign, each setting by itself. Null: none. */
export const campaignSettings = z.strictObject({
  name: text(128),
  /** Shown to the viewer as text: who pays for the ad. */
  advertiser: text(128),
  priority: z.enum(["sponsorship", "standard", "house"]),
  category: category.nullable(),
  pacing: z.enum(["even", "asap"]),
  startsAt: moment,
  endsAt: moment,
  /** Where a direct link leads; on a video, where its call to action leads. */
  landingUrl: landingUrl.nullable(),
  /** The label of the button beside a video. */
  callToAction: text(40).nullable(),
  weight: z.int("must be a whole number").min(1, "must be 1 or more").max(1_000_000, "must be 1000000 at most"),
  /** What one completed view, and one counted click, costs the advertiser: millionths of the deployment's currency. */
  viewPriceMicros: price,
  clickPriceMicros: price,
  totalBudgetMicros: limit,
  dailyBudgetMicros: limit,
  totalViewCap: limit,
  dailyViewCap: limit,
  totalClickCap: limit,
  dailyClickCap: limit,
  /** So many views and clicks of one user, over so many seconds back. */
  userCap: z.int("must be a whole number").min(1, "must be 1 or more").max(10_000, "must be 10000 at most").nullable(),
  userCapSeconds: z
    .int("must be whole seconds")
    .min(60, "must be a minute or more")
    .max(7_776_000, "must be 90 days at most")
    .nullable(),
  targeting,
});
export type CampaignSettings = z.infer<typeof campaignSettings>;

/** Which formats a campaign has is said once: what was charged keeps its meaning. */
export const campaignFormats = z
  .array(z.enum(["rewarded", "direct_link"]))
  .min(1, "must be rewarded, direct_link or both")
  .refine((formats) => new Set(formats).size === formats.length, "must not name a format twice");

export const defaultSettings: Omit<CampaignSettings, "name" | "advertiser"> = {
  priority: "standard",
  category: null,
  pacing: "even",
  startsAt: null,
  endsAt: null,
  landingUrl: null,
  callToAction: null,
  weight: 1,
  viewPriceMicros: 0,
  clickPriceMicros: 0,
  totalBudgetMicros: null,
  dailyBudgetMicros: null,
  totalViewCap: null,
  dailyViewCap: null,
  totalClickCap: null,
  dailyClickCap: null,
  userCap: null,
  userCapSeconds: null,
  targeting: {},
};

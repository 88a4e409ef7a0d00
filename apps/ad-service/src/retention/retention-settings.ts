import { wholeNumberSetting } from "@intermission/server/settings";
import type { z } from "zod";
import { MAX_CLICK_AGE_DAYS, MIN_KEPT_DAYS, type Retention } from "./kept-rows.ts";

/** Thirteen months: long enough to compare a month with the same one of the year before, row by row. */
const THIRTEEN_MONTHS = 396;
const MAX_DAYS = 36_500;

const days = (usual: number, kept: string, min = MIN_KEPT_DAYS) =>
  wholeNumberSetting({ min, max: MAX_DAYS })
    .default(usual)
    .describe(min === MIN_KEPT_DAYS ? kept : `${kept}; at least ${min} days`);

export const retentionVariables = {
  // A code lives for a day at most: afterwards it only explains what its user did.
  RETENTION_CODES_DAYS: days(30, "codes"),
  RETENTION_VIEWS_DAYS: days(30, "views, from the issue of their code on"),
  RETENTION_REQUESTS_DAYS: days(THIRTEEN_MONTHS, "ad requests"),
  RETENTION_MILESTONES_DAYS: days(THIRTEEN_MONTHS, "milestones of views"),
  RETENTION_CTA_CLICKS_DAYS: days(THIRTEEN_MONTHS, "clicks on buttons in ads"),
  RETENTION_REFUSED_CLICKS_DAYS: days(THIRTEEN_MONTHS, "counts of refused clicks"),
  RETENTION_WITHHELD_CLICKS_DAYS: days(
    THIRTEEN_MONTHS,
    "held and refused suspicious clicks; one that waits for a decision stays",
  ),
  // From the click on. While a click may convert, a repeated report must find its row, or it would be counted twice.
  RETENTION_CONVERSIONS_DAYS: days(
    MAX_CLICK_AGE_DAYS + THIRTEEN_MONTHS,
    "conversions, from the click on",
    MAX_CLICK_AGE_DAYS,
  ),
  RETENTION_AD_REPORTS_DAYS: days(THIRTEEN_MONTHS, "viewers' reports of ads"),
  // The webhooks themselves. While one waits or is held, its week stays.
  RETENTION_DELIVERIES_DAYS: days(30, "webhooks; one that waits or is held stays, and so does each event"),
  RETENTION_ATTEMPTS_DAYS: days(30, "attempts to deliver"),
  RETENTION_TRACKER_CALLS_DAYS: days(7, "calls of trackers"),
  // At least the longest cooldown.
  RETENTION_IDLE_VIEWERS_DAYS: days(90, "a user's limits and latest code, from the last ad on"),
};

export function retentionOf(read: z.output<z.ZodObject<typeof retentionVariables>>): Retention {
  return {
    codes: read.RETENTION_CODES_DAYS,
    views: read.RETENTION_VIEWS_DAYS,
    requests: read.RETENTION_REQUESTS_DAYS,
    milestones: read.RETENTION_MILESTONES_DAYS,
    "cta-clicks": read.RETENTION_CTA_CLICKS_DAYS,
    "refused-clicks": read.RETENTION_REFUSED_CLICKS_DAYS,
    "withheld-clicks": read.RETENTION_WITHHELD_CLICKS_DAYS,
    conversions: read.RETENTION_CONVERSIONS_DAYS,
    "ad-reports": read.RETENTION_AD_REPORTS_DAYS,
    deliveries: read.RETENTION_DELIVERIES_DAYS,
    attempts: read.RETENTION_ATTEMPTS_DAYS,
    "tracker-calls": read.RETENTION_TRACKER_CALLS_DAYS,
  };
}

import { z } from "zod";
import { readMoment } from "./moment.ts";
import { chatInsteadOfPerson } from "./not-a-person.ts";
import { isSharedAccount } from "./shared-accounts.ts";

/** Fields of the publishers' and the player's API that operators' routes have, too: apart, so that the console loads only these. */

export const TELEGRAM_ID = /^[1-9][0-9]{0,19}$/;

/** A Telegram id on the wire: a string of digits without leading zeros, at most 20 of them. A JSON number is refused. */
export const telegramId = z.string().regex(TELEGRAM_ID, "must be a string of 1 to 20 digits, without leading zeros");

/** A Telegram id that can be a person's, where only a person makes sense. `/client/v1` takes every `telegramId`. */
export const personId = telegramId.refine((id) => !isSharedAccount(id), chatInsteadOfPerson);

/** A moment on the wire: RFC 3339 in UTC. */
export const moment = z.iso.datetime();

/** A moment in a request, as `readMoment` reads it. */
export const momentInput = z
  .string({ error: ({ input }) => momentMessage(input) })
  .meta({ description: "A date-time of RFC 3339 with an offset, or a date: the beginning of that day in UTC." })
  .transform((text, context): Date => {
    const read = readMoment(text);
    if (read.outcome === "moment") return read.moment;
    context.addIssue({ code: "custom", message: read.message, params: { momentFault: read.fault } });
    return z.NEVER;
  });

function momentMessage(input: unknown): string | undefined {
  const read = readMoment(input);
  return read.outcome === "refused" ? read.message : undefined;
}

/** Why a user may not earn yet: the pause between two rewards, or the most rewards of a day. */
export const viewerLimits = ["cooldown", "daily-cap"] as const;
export type ViewerLimitReason = (typeof viewerLimits)[number];

/** What a viewer does with the player; a VAST ad's trackers of each are called once. */
export const interactions = ["mute", "unmute", "pause", "resume"] as const;
export type Interaction = (typeof interactions)[number];

/** What a code can earn, each at most once. */
export const eventType = z.enum(["rewarded", "direct_link"]);
export type EventType = z.infer<typeof eventType>;

export const deliveryState = z
  .enum(["waiting", "sending", "delivered", "failed", "held", "unknown"])
  .describe(
    "`waiting` and `held` will be sent, `delivered` was answered 2xx, `failed` and `unknown` are not sent automatically.",
  );
export type DeliveryState = z.output<typeof deliveryState>;

/** Whether a zone of the IANA has this name. */
export function isTimeZone(name: string): boolean {
  try {
    // Time zones are named by an area: a fixed offset would be wrong for half of the year.
    return name === "UTC" || (/^[A-Z]/.test(name) && new Intl.DateTimeFormat("en", { timeZone: name }) !== undefined);
  } catch {
    return false;
  }
}

/** Why a viewer objects to an ad. */
export const adReportReason = z.enum(["offensive", "misleading", "scam", "illegal", "broken", "other"]);
export type AdReportReason = z.infer<typeof adReportReason>;

/**
 * Why a player gave up its video: it could not be fetched, stalled for too long, has a type that the player does not
 * support, was fetched but not displayed, ends long before its stated duration; or anything else.
 */
export const playbackFault = z.enum(["not-found", "timeout", "unsupported", "not-displayed", "too-short", "other"]);
export type PlaybackFault = z.infer<typeof playbackFault>;

/** Why a report of a player is not accepted, whenever it is sent. */
export const reportRefusalReason = z.enum([
  "hidden",
  "not-in-view",
  "too-long",
  "backwards",
  "beyond-the-end",
  "not-started",
  "after-close",
]);
export type ReportRefusalReason = z.infer<typeof reportRefusalReason>;

/** Why the in-app script in a page cannot show ads, as far as it can tell. */
export const scriptTrouble = z.enum(["launch-data-missing", "frame-blocked", "frame-not-loaded"]);
export type ScriptTrouble = z.infer<typeof scriptTrouble>;

/** Why a request to another server has no valid answer. Stored in the log of attempts, so these values must not change. */
export const requestErrorClass = z.enum([
  "dns",
  "refused",
  "reset",
  "tls",
  "timeout-connect",
  "timeout-total",
  "blocked-address",
  "redirect",
  "protocol",
  "too-large",
]);
export type RequestErrorClass = z.infer<typeof requestErrorClass>;

import { anyEventType } from "@intermission/ad-core/event-words";
import {
  deliveryState,
  playbackFault,
  reportRefusalReason,
  requestErrorClass,
  viewerLimits,
} from "@intermission/ad-core/wire-fields";
import { z } from "zod";
import { endReason } from "./deliveries.ts";
import { moment } from "./fields.ts";
import { type NoAdReason, noAdReasons } from "./report-figures.ts";
import { closeReason, storedViewState } from "./reviews.ts";
import { clickSuspicions, viewSuspicions } from "./suspicions.ts";

/** What happened to a code or its user. */
const timelineStep = z.enum([
  "code-issued",
  "ad-requested",
  "view-opened",
  "view-started",
  "view-watched",
  "view-closed",
  "cta-clicked",
  "click-not-counted",
  "click-held",
  "click-refused",
  "reviewed",
  "earned",
  "converted",
  "refunded",
  "webhook-answered",
  "webhook-failed",
]);
export type TimelineStep = z.output<typeof timelineStep>;

/** What became of a code: how it earned, or the last thing that kept it from earning. */
export const codeVerdict = z.enum([
  "paid",
  "earned",
  "webhook-waiting",
  "webhook-failed",
  "refunded",
  "held",
  "refused",
  "click-not-counted",
  "not-closed",
  "left-early",
  "not-started",
  "no-ad",
  "limited",
  "request-refused",
  "unused",
]);
export type CodeVerdict = z.output<typeof codeVerdict>;

/** Why a user may not earn yet. */
const viewerLimit = z.enum(viewerLimits);
export type ViewerLimit = z.output<typeof viewerLimit>;

/** Why a request was answered without an ad being requested, because of the code, the bot or the launch data. */
const requestRefusal = z.enum([
  "init-data-invalid",
  "init-data-without-user",
  "init-data-expired",
  "code-malformed",
  "code-unknown",
  "code-expired",
  "code-used",
  "code-of-another-user",
  "bot-unknown",
  "bot-suspended",
]);
export type RequestRefusal = z.output<typeof requestRefusal>;

/** What is stored of a request for an ad: `limited` and `refused` end before an ad is requested. */
export type StoredRequest =
  | { outcome: "filled" }
  | { outcome: "no-ad"; reason: NoAdReason }
  | { outcome: "limited"; reason: ViewerLimit }
  | { outcome: "refused"; reason: RequestRefusal };

/** Why a visit of a direct link was not counted, by a rule. Whether it looks suspicious is decided about the others. */
export const visitRefusal = z.enum([
  ...viewerLimit.options,
  "used",
  "expired",
  "bot-suspended",
  "no-ad",
  "address-limit",
  "machine-head",
  "machine-prefetch",
  "machine-empty-agent",
  "machine-crawler",
  "machine-library",
  "tap-asked-address",
  "tap-asked-embedded",
  "tap-asked-scripted",
  "tap-asked-no-language",
  "tap-asked-foreign-form",
  "tap-asked-no-token",
  "tap-asked-crawler-like",
  "tap-asked-unknown-agent",
]);
export type VisitRefusal = z.output<typeof visitRefusal>;

/** What is stored about a click that earned nothing: decided as suspicious (`released`: paid for later), or a refused visit. */
export type WithheldOutcome = "held" | "refused" | "released" | VisitRefusal;

/** Why something that a player sent earned its view nothing, as it is counted. */
const countedRefusal = z.enum([
  ...reportRefusalReason.options,
  ...viewerLimit.options,
  "too-early",
  "superseded",
  "wrong-token",
]);
export type CountedRefusal = z.output<typeof countedRefusal>;

const reviewDecision = z.enum(["released", "refused"]);
export type ReviewDecision = z.output<typeof reviewDecision>;

/** What a step says beside its name, in parts that each reader's language has a text for. */
const timelineDetail = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("valid-until"), at: moment }),
  z.object({ kind: z.literal("reference"), reference: z.string() }),
  z.object({ kind: z.literal("test") }),
  z.object({ kind: z.literal("filled") }),
  z.object({ kind: z.literal("no-ad"), reason: z.enum(noAdReasons) }),
  z.object({ kind: z.literal("limited"), reason: viewerLimit }),
  z.object({ kind: z.literal("request-refused"), reason: requestRefusal }),
  z.object({ kind: z.literal("watched"), acceptedMs: z.int(), durationMs: z.int() }),
  z.object({ kind: z.literal("closed"), reason: closeReason }),
  z.object({ kind: z.literal("not-closed") }),
  z.object({ kind: z.literal("view-state"), state: storedViewState }),
  z.object({ kind: z.literal("suspicions"), suspicions: z.array(z.enum([...viewSuspicions, ...clickSuspicions])) }),
  z.object({ kind: z.literal("reports-refused"), reason: countedRefusal, count: z.int() }),
  z.object({ kind: z.literal("playback-fault"), fault: playbackFault }),
  z.object({ kind: z.literal("decision"), decision: reviewDecision }),
  z.object({ kind: z.literal("visit-refused"), reason: visitRefusal }),
  z.object({ kind: z.literal("event"), event: anyEventType }),
  z.object({ kind: z.literal("webhook"), state: deliveryState, endReason: endReason.nullable() }),
  z.object({ kind: z.literal("attempt"), attempt: z.int(), isReplay: z.boolean() }),
  z.object({ kind: z.literal("answer"), status: z.int() }),
  z.object({ kind: z.literal("no-answer"), errorClass: requestErrorClass }),
  z.object({ kind: z.literal("took"), milliseconds: z.int() }),
  z.object({ kind: z.literal("conversion"), event: z.string() }),
]);
export type TimelineDetail = z.output<typeof timelineDetail>;
export const timelineDetails = z.array(timelineDetail);

export const timelineEntry = z.object({
  at: moment,
  step: timelineStep,
  code: z.string().nullable(),
  id: z.string().nullable().describe("Of the view, the click or the event."),
  campaignId: z.string().nullable(),
  creativeId: z.string().nullable(),
  amountMicros: z.number().nullable().describe("Of a charge, a refund or a conversion, in millionths of the currency."),
  details: timelineDetails.describe("What the step says beside its name: states, reasons, answers."),
});
export type TimelineEntry = z.output<typeof timelineEntry>;

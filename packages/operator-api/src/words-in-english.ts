import type { AnyEventType } from "@intermission/ad-core/event-words";
import type { ScriptState } from "./bots.ts";
import type { ConversionRefusal } from "./conversions.ts";
import type { ListedDelivery } from "./deliveries.ts";
import type { NoAdReason } from "./report-figures.ts";
import type { ClickSuspicion, ViewSuspicion } from "./suspicions.ts";

/** English texts of words that the command line and the console both show. The console has the other languages. */

/** Why a postback recorded nothing. */
export const conversionRefusalsInEnglish = {
  "unknown-key": "unknown key",
  "unknown-click": "no such click of the advertiser",
  "refused-click": "click refused as suspicious",
  "too-late": "click too old",
  "too-many": "too many conversions of one click",
  reversed: "reversed before",
  "unknown-currency": "another currency",
  malformed: "malformed",
} satisfies Record<ConversionRefusal, string>;

export const deliveryStatesInEnglish = {
  waiting: "waiting",
  sending: "under way",
  delivered: "delivered",
  failed: "failed",
  held: "held",
  unknown: "outcome unknown",
} satisfies Record<ListedDelivery["state"], string>;

export const eventsInEnglish = {
  rewarded: "rewarded video",
  direct_link: "direct link",
  interstitial: "interstitial",
  task: "task",
  task_reversed: "task taken back",
} satisfies Record<AnyEventType, string>;

/** How the in-app script fared on a page. */
export const scriptStatesInEnglish = {
  working: "working",
  "not-registered": "the origin is not registered",
  "launch-data-missing": "the page has no launch data: it was not opened from Telegram, or the script loads too late",
  "launch-data-refused": "the launch data is not of this bot",
  "launch-data-expired": "the launch data is older than an hour",
  "frame-blocked": "the page's content security policy refuses the frame",
  "frame-not-loaded": "the frame does not load: an origin around the page may not be registered",
} satisfies Record<ScriptState, string>;

/** Why a request got no ad. */
export const noAdReasonsInEnglish = {
  "no-campaign": "no campaign runs",
  "none-fits": "no campaign fits the bot or the user",
} satisfies Record<NoAdReason, string>;

export const suspicionsInEnglish = {
  "mostly-hidden": "the ad was mostly hidden",
  "not-in-view": "the ad's frame was not in view",
  covered: "the ad's frame was covered",
  "no-frames": "no frame was drawn",
  "too-many-frames": "more frames than the video has",
  "faster-than-time": "faster than the clock",
  "too-even": "reports as even as a machine's",
  "too-few-calls": "too few reports",
  "many-users-of-one-address": "many users from one address",
  "crowded-network": "a crowded network",
  "many-users-of-one-agent": "many users with one browser",
  "mostly-taps": "hardly anything but taps",
  "right-after-issue": "right after the code was issued",
  "address-changed": "the address changed before the tap",
  "tap-unconfirmed": "the tap is not confirmed",
} satisfies Record<ViewSuspicion | ClickSuspicion, string>;

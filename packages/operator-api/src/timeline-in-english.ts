import type { PlaybackFault } from "@intermission/ad-core/wire-fields";
import type { EndReason } from "./deliveries.ts";
import { errorClassesInEnglish } from "./error-classes-in-english.ts";
import type { ViewerBlock } from "./explain.ts";
import type { CloseReason, StoredViewState } from "./reviews.ts";
import type {
  CodeVerdict,
  CountedRefusal,
  RequestRefusal,
  ReviewDecision,
  TimelineDetail,
  ViewerLimit,
  VisitRefusal,
} from "./timeline.ts";
import {
  deliveryStatesInEnglish,
  eventsInEnglish,
  noAdReasonsInEnglish,
  suspicionsInEnglish,
} from "./words-in-english.ts";

/** How the reader's program writes what is no word. */
export interface DetailFormats {
  dateTime: (at: Date) => string;
  number: (value: number) => string;
  seconds: (value: number) => string;
  milliseconds: (value: number) => string;
}

/** A text for each kind of detail. */
type DetailTexts = {
  readonly [Kind in TimelineDetail["kind"]]: (
    detail: Extract<TimelineDetail, { kind: Kind }>,
    formats: DetailFormats,
  ) => string;
};

const viewerLimits = {
  cooldown: "the pause between two ads is not over",
  "daily-cap": "the user's rewards of the day are used up",
} satisfies Record<ViewerLimit, string>;

/** Of a user who is shown no ad at all now. */
export const blocksInEnglish = {
  ...viewerLimits,
  "bot-suspended": "the bot is suspended",
} satisfies Record<ViewerBlock["reason"], string>;

/** What became of a code, and what to do. */
export const verdictsInEnglish = {
  paid: "Earned, and the publisher's server accepted the webhook.",
  earned: "Earned; its webhook is no longer kept.",
  "webhook-waiting": "Earned; the webhook waits to be sent. If that lasts, look at the bot's webhook address.",
  "webhook-failed":
    "Earned, but the publisher's server never accepted the webhook. Mend the address, then send the event again.",
  refunded: "Earned, and refunded later.",
  held: "Held because it looks suspicious. It is paid once somebody releases it in the review.",
  refused: "Refused because it looks suspicious. Nothing is paid.",
  "click-not-counted": "The link was followed, but the click does not count. Its reason stands below.",
  "not-closed": "Watched to the end, but never closed: closing the ad earns the reward.",
  "left-early": "Left before the end of the video. Nothing is paid for a part.",
  "not-started": "The ad was opened, and the video never played.",
  "no-ad": "There was no ad for this user.",
  limited: "Asked too soon or too often: the pause between ads, or the daily cap.",
  "request-refused": "The request was refused. Its reason stands below.",
  unused: "The bot got a code, and nobody has used it: was the button sent, and tapped?",
} satisfies Record<CodeVerdict, string>;

const requestRefusals = {
  "init-data-invalid": "the launch data of Telegram are not authentic",
  "init-data-without-user": "the launch data of Telegram name no user",
  "init-data-expired": "the launch data of Telegram are too old",
  "code-malformed": "this is not a code",
  "code-unknown": "there is no such code",
  "code-expired": "the code has expired",
  "code-used": "the code has earned its reward already",
  "code-of-another-user": "the code belongs to another user",
  "bot-unknown": "there is no such bot",
  "bot-suspended": "the bot is suspended",
} satisfies Record<RequestRefusal, string>;

const closeReasons = {
  tap: "by the viewer",
  "page-hidden": "the viewer left the page",
  "heartbeat-lost": "the player fell silent",
  deadline: "its time was over",
  reopened: "the code was opened again",
} satisfies Record<CloseReason, string>;

const viewStates = {
  opened: "opened",
  playing: "playing",
  watched: "watched",
  rewarded: "rewarded",
  held: "held",
  refused: "refused",
} satisfies Record<StoredViewState, string>;

const countedRefusals = {
  ...viewerLimits,
  hidden: "the ad was hidden",
  "not-in-view": "the ad's frame was not in view",
  "too-long": "a longer part than one report may have",
  backwards: "a part that ends before it begins",
  "beyond-the-end": "a part behind the end of the video",
  "not-started": "playback had not started",
  "after-close": "more than was played until the close",
  "too-early": "faster than the clock",
  superseded: "of a player that another one has replaced",
  "wrong-token": "without the token of the view",
} satisfies Record<CountedRefusal, string>;

const playbackFaults = {
  "not-found": "the video could not be loaded",
  timeout: "the video stalled for too long",
  unsupported: "the player cannot play this type of video",
  "not-displayed": "the video was loaded and not displayed",
  "too-short": "the video ended long before its stated duration",
  other: "the video failed",
} satisfies Record<PlaybackFault, string>;

const visitRefusals = {
  ...viewerLimits,
  used: "the code has led to its ad already",
  expired: "the code has expired",
  "bot-suspended": "the bot is suspended",
  "no-ad": "no ad for this user",
  "address-limit": "too many clicks from one address",
  "machine-head": "a program: it requested only the headers",
  "machine-prefetch": "a program: a browser that loads pages ahead",
  "machine-empty-agent": "a program: it does not say what it is",
  "machine-crawler": "a program: a crawler, or another known one",
  "machine-library": "a program: an HTTP library",
  "tap-asked-address": "a tap was required: many clicks from one address",
  "tap-asked-embedded": "a tap was required: the page was embedded in another one",
  "tap-asked-scripted": "a tap was required: a script made the request",
  "tap-asked-no-language": "a tap was required: the browser names no language",
  "tap-asked-foreign-form": "a tap was required: the form was sent from another page",
  "tap-asked-no-token": "a tap was required: the form had no valid token",
  "tap-asked-crawler-like": "a tap was required: the browser resembles a crawler",
  "tap-asked-unknown-agent": "a tap was required: an unknown browser",
} satisfies Record<VisitRefusal, string>;

const endReasons = {
  "attempts-used-up": "no attempt was answered 2xx",
  "at-most-once": "the bot's webhooks are sent at most once",
  "held-too-long": "it was held for 30 days",
  test: "a test is sent once",
  erased: "its user was erased",
} satisfies Record<EndReason, string>;

const decisions = {
  released: "the operator released it",
  refused: "the operator refused it",
} satisfies Record<ReviewDecision, string>;

/** The details of the steps of a timeline, for the command line and the console. */
export const timelineInEnglish: DetailTexts = {
  "valid-until": ({ at }, { dateTime }) => `valid until ${dateTime(at)}`,
  reference: ({ reference }) => `reference ${reference}`,
  test: () => "test: free of charge",
  filled: () => "an ad was found",
  "no-ad": ({ reason }) => `no ad: ${noAdReasonsInEnglish[reason]}`,
  limited: ({ reason }) => viewerLimits[reason],
  "request-refused": ({ reason }) => `refused: ${requestRefusals[reason]}`,
  watched: ({ acceptedMs, durationMs }, { seconds }) =>
    `${seconds(acceptedMs / 1000)} of ${seconds(durationMs / 1000)}`,
  closed: ({ reason }) => closeReasons[reason],
  "not-closed": () => "not closed so far",
  "view-state": ({ state }) => `state: ${viewStates[state]}`,
  suspicions: ({ suspicions }) => `suspicious: ${suspicions.map((one) => suspicionsInEnglish[one]).join(", ")}`,
  "reports-refused": ({ reason, count }, { number }) =>
    `refused reports: ${number(count)} (${countedRefusals[reason]})`,
  "playback-fault": ({ fault }) => playbackFaults[fault],
  decision: ({ decision }) => decisions[decision],
  "visit-refused": ({ reason }) => visitRefusals[reason],
  event: ({ event }) => eventsInEnglish[event],
  webhook: ({ state, endReason }) =>
    `webhook: ${deliveryStatesInEnglish[state]}${endReason === null ? "" : ` (${endReasons[endReason]})`}`,
  attempt: ({ attempt, isReplay }, { number }) => `attempt ${number(attempt)}${isReplay ? " (sent again)" : ""}`,
  answer: ({ status }) => `answer ${status}`,
  "no-answer": ({ errorClass }) => errorClassesInEnglish[errorClass],
  took: ({ milliseconds }, formats) => formats.milliseconds(milliseconds),
  conversion: ({ event }) => `event ${event}`,
};

/** A detail in the language of the texts. */
export function detailText(texts: DetailTexts, detail: TimelineDetail, formats: DetailFormats): string {
  // The table has the text of this very kind; a union of kinds loses which it is.
  const text = texts[detail.kind] as (detail: TimelineDetail, formats: DetailFormats) => string;
  return text(detail, formats);
}

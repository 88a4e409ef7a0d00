import { z } from "zod";
import { playerExamples } from "./api-examples.ts";
import { availabilityResponse, namedReward, namedRewards, unavailableReason, viewState } from "./client-api.ts";
import { consent } from "./consent.ts";
import {
  adReportReason,
  interactions,
  playbackFault,
  reportRefusalReason,
  scriptTrouble,
  telegramId,
  viewerLimits,
} from "./wire-fields.ts";

/**
 * Requests and responses of `/player/v1`, the ad service's API for the mini-app: plain JSON, so that an inline script and a
 * beacon can use it.
 *
 * - `POST /player/v1/sessions`                 openSessionRequest → openSessionResponse
 * - `POST /player/v1/app-grants`             appGrantRequest → appGrantResponse
 * - `POST /player/v1/script-troubles`        scriptTroubleRequest → scriptTroubleResponse
 * - `POST /player/v1/sessions/{id}/reports`    reportRequest → reportResponse
 * - `POST /player/v1/sessions/{id}/faults`     faultRequest → faultResponse
 * - `POST /player/v1/sessions/{id}/status`     statusRequest → statusResponse
 * - `POST /player/v1/sessions/{id}/ad-reports` adReportRequest → adReportResponse
 * - `POST /player/v1/sessions/{id}/click?key=` → clickResponse
 *
 * A session's token is in the body, never in an address, because a beacon cannot set headers. The same body may be
 * `application/json` or, from a page, `text/plain`. Errors use the envelope of `client-api`.
 */

/** Who the user is: one of both. */
export const launchProof = {
  init_data: z
    .string()
    .min(1)
    .max(8192)
    .optional()
    .describe(
      "Telegram's signed launch data, the raw string as received. It is the only source of the user's identity.",
    ),
  app_grant: z
    .string()
    .min(1)
    .max(2048)
    .optional()
    .describe(
      "Instead of launch data: what `POST /player/v1/app-grants` answered to a page that shows ads in a frame.",
    ),
};
const hasOneProof = (request: { init_data?: string | undefined; app_grant?: string | undefined }) =>
  (request.init_data === undefined) !== (request.app_grant === undefined);
const oneProof = { error: "must be given, or app_grant instead", path: ["init_data"] };

/** An ad for a reward, or one that rewards nobody and may be skipped. */
const adFormat = z.enum(["rewarded", "interstitial"]).optional();

export const openSessionRequest = z
  .object({
    bot_id: telegramId,
    ...launchProof,
    code: z
      .string()
      .max(8192)
      .optional()
      .describe(
        "From `?code=`. Default: the code in Telegram's `startapp` parameter, if it is one of this user and bot; the user's open code; or a new one.",
      ),
    start_param: z
      .string()
      .max(512)
      .optional()
      .catch(undefined)
      .describe(
        "`tgWebAppStartParam` of the page's address, for clients whose launch data has no `start_param`. A code in it is opened; any other value is ignored, because it is not signed.",
      ),
    client_note: z
      .string()
      .max(128)
      .regex(/^[^\p{Cc}\p{Cs}]*$/u)
      .optional()
      .describe(
        "What the page passed to `show({ note })`, without control characters. Unsigned, and sent to bots that ask for it.",
      ),
    consent: consent.optional().describe("As the page's consent platform has it; it precedes that of the code."),
    another: z
      .boolean()
      .optional()
      .describe(
        "Requests a further ad after a watched one: the code of the launch data is ignored, and `code`, if it is that of the watched view, only makes the choice that its `next_ad` named.",
      ),
    media_types: z
      .array(z.string().max(64))
      .max(8)
      .optional()
      .describe(
        "The media types that the browser can play, of `video/mp4` and `video/webm`: no other ad or file is chosen. Default: it plays both.",
      ),
    preloaded: z
      .string()
      .max(128)
      .optional()
      .describe("The file below `/media/` that the page loads already. It is used if it is one of the chosen video's."),
    format: adFormat.describe("Default: `rewarded`. An `interstitial` needs an `app_grant`, and earns nothing."),
  })
  .refine(hasOneProof, oneProof)
  .refine(({ format, app_grant }) => format !== "interstitial" || app_grant !== undefined, {
    error: "must be given with the format interstitial",
    path: ["app_grant"],
  })
  .meta({ examples: playerExamples.openSessionRequest });
export type OpenSessionRequest = z.infer<typeof openSessionRequest>;

const scriptVersion = z
  .string()
  .max(16)
  .regex(/^[\d.]+$/)
  .optional()
  .describe("Of `/sdk/v1.js`, for the publisher, who sees which pages have it.");

/** Of a page in the publisher's own mini-app, whose `Origin` is registered for the bot; else 403 `ORIGIN_NOT_REGISTERED`. */
export const appGrantRequest = z
  .object({
    bot_id: telegramId,
    ...launchProof,
    script_version: scriptVersion,
    format: adFormat.describe("Of the ad whose availability is answered. Default: `rewarded`."),
  })
  .refine(hasOneProof, oneProof)
  .meta({ examples: playerExamples.appGrantRequest });
export type AppGrantRequest = z.infer<typeof appGrantRequest>;

export const appGrantResponse = z
  .object({
    available: z.boolean(),
    reason: unavailableReason.optional(),
    available_at: z.iso.datetime().optional().describe("When to retry; absent where unknown."),
    app_grant: z.string().describe("Opens ads of this user in a frame on this origin. A secret, to be kept in memory."),
    expires_at: z.iso.datetime(),
    media: z
      .object({ url: z.string(), poster_url: z.string().optional() })
      .optional()
      .describe(
        "With `available`: the video that an opening would most likely choose, for a page that loads it ahead.",
      ),
    server_time: z.iso.datetime(),
  })
  .meta({ examples: playerExamples.appGrantResponse });
export type AppGrantResponse = z.infer<typeof appGrantResponse>;

export const scriptTroubleRequest = z
  .object({ bot_id: telegramId, script_version: scriptVersion, trouble: scriptTrouble })
  .meta({ examples: playerExamples.scriptTroubleRequest });
export type ScriptTroubleRequest = z.infer<typeof scriptTroubleRequest>;

export const scriptTroubleResponse = z
  .object({ server_time: z.iso.datetime() })
  .meta({ examples: playerExamples.scriptTroubleResponse });

/** The codes of refused openings (HTTP 400, 401, 403, 404, 409, 410 with the error envelope). */
export const openSessionRefusal = z.enum([
  "INIT_DATA_INVALID",
  "INIT_DATA_WITHOUT_USER",
  "INIT_DATA_EXPIRED",
  "CODE_MALFORMED",
  "CODE_UNKNOWN",
  "CODE_EXPIRED",
  "CODE_USED",
  "CODE_OF_ANOTHER_USER",
  "BOT_UNKNOWN",
  "BOT_SUSPENDED",
]);
export type OpenSessionRefusal = z.infer<typeof openSessionRefusal>;

export const botForPlayer = z.object({
  bot_id: telegramId,
  name: z.string(),
  link: z.string().optional().describe("`https://t.me/…`, where the bot has a username."),
  picture_url: z.string().optional().describe("A small square picture of the bot, where its publisher has set one."),
  publisher_api_url: z
    .string()
    .optional()
    .describe(
      "The API that reports the reward's status. Without it the player shows the status that the ad service knows.",
    ),
  skip_offer: z.literal(true).optional().describe("The ad starts without an offer."),
  close_when_credited: z.literal(true).optional().describe("The mini-app closes itself after the reward is credited."),
});
export type BotForPlayer = z.infer<typeof botForPlayer>;

/** What a view is worth, with its picture. */
export const rewardForPlayer = namedReward.extend({
  icon_url: z
    .string()
    .optional()
    .describe("A small square picture of the unit, to be shown beside the amount, where the publisher has set one."),
});
export type RewardForPlayer = z.infer<typeof rewardForPlayer>;

const size = { width: z.int().positive(), height: z.int().positive() };
/** What follows a call to action; the landing page's macros are filled in as in the redirect. */
export const opens = z.discriminatedUnion("in", [
  z.object({ in: z.literal("browser").describe("The call to action's `url` opens, which redirects.") }),
  z.object({
    in: z.literal("telegram").describe("A chat, a bot or a mini-app: a browser would take the viewer out of Telegram."),
    link: z
      .string()
      .describe(
        "`https://t.me/…`, for `openTelegramLink`. Then `POST` to the call to action's `url`, which counts and does not redirect. Where the client has no such method, the `url` opens.",
      ),
  }),
]);
const callToAction = z.object({
  label: z
    .string()
    .optional()
    .describe("Absent: the player's own words in the viewer's language, such as `Learn more`."),
  url: z.string(),
  opens: opens.optional().describe("Absent: a browser."),
});
export type CallToAction = z.infer<typeof callToAction>;

/**
 * What the campaign's targeting was compared with; `network`: the campaign is an ad network's tag, and the network chose the
 * ad by rules of its own. An ad without any of them is shown to everybody.
 */
export const shownReason = z.enum(["bot", "language", "platform", "country", "premium", "time", "network"]);
export type ShownReason = z.infer<typeof shownReason>;

export const adForPlayer = z.object({
  advertiser: z.string().describe("The name of the company that pays for the ad; shown as text."),
  title: z.string().optional().describe("What the ad server of an ad network calls the ad (VAST `AdTitle`)."),
  legal_line: z
    .string()
    .max(256)
    .optional()
    .describe("Text that a law requires beside the ad, such as a registration number."),
  marking: z
    .string()
    .max(400)
    .optional()
    .describe("The marking of the ad that a law requires, in the language of that law (Russian, with the `erid`)."),
  shown_because: z
    .array(shownReason)
    .optional()
    .describe("What decided that this viewer may see the ad. Absent: it is shown to everybody."),
  media_url: z.string(),
  media_type: z.string(),
  poster_url: z.string().optional(),
  duration_ms: z.int().positive(),
  ...size,
  lighter_media: z
    .array(z.object({ url: z.string(), media_type: z.string() }))
    .optional()
    .describe("The same video in smaller files of the same duration, the largest first, for a player that stalls."),
  captions: z
    .array(z.object({ language: z.string(), url: z.string() }))
    .optional()
    .describe(
      "WebVTT; `language` is BCP 47, as `en` or `pt-BR`. The first are the best for the viewer, by the language of Telegram and `Accept-Language`.",
    ),
  call_to_action: callToAction
    .optional()
    .describe("Its `url` is the ad service's, which counts the CTA click once and redirects."),
  end_card: z
    .object({ poster_url: z.string(), ...size, call_to_action: callToAction.optional() })
    .optional()
    .describe("An advertiser's picture for after the video; with it, these fields replace the ad's of the same names."),
  verifications: z
    .array(
      z.object({
        vendor: z.string().optional(),
        api_framework: z.string().optional(),
        resource: z.string().optional(),
        parameters: z.string().optional(),
      }),
    )
    .optional()
    .describe("The `AdVerifications` of a VAST ad, for a player that runs them."),
});
export type AdForPlayer = z.infer<typeof adForPlayer>;

/** The review of a suspicious view that was watched: `held` waits for an operator, `refused` earns nothing. */
export const viewReview = z.enum(["held", "refused"]);
export type ViewReview = z.infer<typeof viewReview>;

export const openSessionResponse = z
  .discriminatedUnion("outcome", [
    z.object({
      outcome: z
        .literal("session")
        .describe(
          "State `opened` or `playing`: there is an ad to watch. `rewarded`, or `watched` with its review: it was watched already and this opening closed it.",
        ),
      bot: botForPlayer,
      session_id: z.string(),
      token: z
        .string()
        .describe(
          "Replaces the token of an earlier opening. Reports with the earlier token are then answered SUPERSEDED.",
        ),
      code: z.string(),
      state: viewState,
      review: viewReview
        .optional()
        .describe("Only with state `watched`: there is nothing more to watch, and no reward, or none yet."),
      ad: adForPlayer,
      skip_after_ms: z
        .int()
        .nonnegative()
        .optional()
        .describe("Of an interstitial, and only of it: it rewards nobody, and may be skipped from this position on."),
      rewards: namedRewards.extend({ rewarded: rewardForPlayer.optional() }).optional(),
      accepted_ms: z.int().nonnegative().describe("Accepted progress. Playback resumes at `resume_at_ms`."),
      resume_at_ms: z.int().nonnegative(),
      first_sequence: z
        .int()
        .nonnegative()
        .describe("The first sequence number that this opening may use. Earlier openings used the lower ones."),
      server_time: z.iso.datetime(),
      deadline: z.iso.datetime().describe("Reports after this moment are refused."),
    }),
    z.object({
      outcome: z.literal("no-ad"),
      bot: botForPlayer,
      retry_after_seconds: z.int().positive(),
      server_time: z.iso.datetime(),
    }),
    z.object({
      outcome: z.literal("limit-reached"),
      bot: botForPlayer,
      reason: z.enum(viewerLimits),
      available_at: z.iso.datetime(),
      server_time: z.iso.datetime(),
    }),
  ])
  .meta({ examples: playerExamples.openSessionResponse });
export type OpenSessionResponse = z.infer<typeof openSessionResponse>;

/** How much of the frame with the ad could be seen, by the frame's own observer; in CSS pixels. */
const shownFrame = z.object({
  in_view: z.number().min(0).max(1).describe("The share of the frame that is on the screen."),
  width: z.int().nonnegative().max(100_000),
  height: z.int().nonnegative().max(100_000),
  window_width: z.int().nonnegative().max(100_000).describe("Of the window of the page around the frame."),
  window_height: z.int().nonnegative().max(100_000),
  covered: z
    .boolean()
    .optional()
    .describe("Something is over it, or it is transparent or distorted. Absent where the browser cannot tell."),
});

/**
 * One range of continuous playback, usually up to 5 s and at most 30 s. Reports are a set keyed by `sequence`: their order
 * does not matter, and repeats have no effect.
 */
export const progressReport = z.object({
  sequence: z.int().nonnegative().max(1_000_000),
  from_ms: z
    .int()
    .nonnegative()
    .max(86_400_000)
    .describe("Media positions of the beginning and the end of the range, in milliseconds."),
  to_ms: z.int().nonnegative().max(86_400_000),
  visible: z.boolean(),
  muted: z.boolean(),
  rendered_frames: z
    .int()
    .nonnegative()
    .optional()
    .describe(
      "Video frames rendered since the range before (`getVideoPlaybackQuality`), where the browser reports them. The first range has those that were rendered before playback, too.",
    ),
  events: z
    .array(z.enum(interactions))
    .max(4)
    .optional()
    .describe(
      "What the viewer did at the beginning or at the end of the range: trackers of a VAST ad are called for it.",
    ),
  frame: shownFrame
    .optional()
    .describe("Of an ad in a frame of the publisher's own mini-app. A range that was not in view does not count."),
});
export type ProgressReport = z.infer<typeof progressReport>;

export const reportRequest = z
  .object({
    token: z.string().min(1).max(128),
    reports: z
      .array(progressReport)
      .max(300)
      .describe(
        "All ranges that are not acknowledged yet. An empty list is a heartbeat, due every 5 s after `watched`.",
      ),
    started: z
      .boolean()
      .optional()
      .describe("Playback began: the server records the start by its own clock. Repeats have no effect."),
    closed: z.enum(["tap", "page-hidden"]).optional().describe("The user tapped close, or the page is going away."),
    playing: z
      .boolean()
      .optional()
      .describe(
        "The video plays on, and the next call will carry what is not acknowledged: the server may store nothing for up to 10 s, and then acknowledges nothing.",
      ),
    picture: z
      .object({ width: z.int().nonnegative().max(100_000), height: z.int().nonnegative().max(100_000) })
      .optional()
      .describe(
        "The size of the picture that the player shows (`videoWidth`, `videoHeight`). Without a pixel, and without this field in a view of a VAST ad of which no frame was rendered, the view ends as `not-displayed` and earns nothing.",
      ),
  })
  .meta({ examples: playerExamples.reportRequest });
export type ReportRequest = z.infer<typeof reportRequest>;

export const reportResponse = z
  .object({
    state: viewState,
    review: viewReview
      .optional()
      .describe(
        "Only with state `watched`: the view is held or refused, or will be when it is closed. Do not tell its viewer that it earned the reward.",
      ),
    accepted_ms: z.int().nonnegative(),
    acknowledged: z.array(z.int()).describe("Sequences that were stored, accepted or refused: do not send them again."),
    refused: z.array(z.object({ sequence: z.int(), reason: reportRefusalReason })),
    too_early: z
      .object({ sequences: z.array(z.int()), retry_after_ms: z.int().positive() })
      .optional()
      .describe(
        "Ranges that exceed the time passed on the server's clock: send them again after this delay. They are not acknowledged.",
      ),
    server_time: z.iso.datetime(),
  })
  .meta({ examples: playerExamples.reportResponse });
export type ReportResponse = z.infer<typeof reportResponse>;

/** Which ad the next opening of this code shows. */
const nextOpening = z.enum(["another-ad", "same-ad"]);
export type NextOpening = z.output<typeof nextOpening>;

/** How far the webhook of what a view earned is. */
const earnedDelivery = z.enum(["on-its-way", "delivered", "delayed", "failed"]);
export type EarnedDelivery = z.output<typeof earnedDelivery>;

export const faultRequest = z
  .object({ token: z.string().min(1).max(128), fault: playbackFault })
  .meta({ examples: playerExamples.faultRequest });
export type FaultRequest = z.infer<typeof faultRequest>;

export const faultResponse = z
  .object({
    next_opening: nextOpening.describe(
      "What the next opening of the code returns: the same ad if a second or more of it was accepted and its file is not at fault.",
    ),
    server_time: z.iso.datetime(),
  })
  .meta({ examples: playerExamples.faultResponse });
export type FaultResponse = z.infer<typeof faultResponse>;

/**
 * The codes of refused reports and faults (HTTP 401, 409, 410 with the error envelope). `LIMIT_REACHED` refuses a report that
 * would start playback: the user earned elsewhere since the ad was opened. Opening again returns how long to wait.
 */
export const reportRefusal = z.enum(["SESSION_UNKNOWN", "SUPERSEDED", "SESSION_OVER", "LIMIT_REACHED"]);
export type ReportRefusal = z.infer<typeof reportRefusal>;

export const adReportRequest = z
  .object({ token: z.string().min(1).max(128), reason: adReportReason })
  .meta({ examples: playerExamples.adReportRequest });
export type AdReportRequest = z.infer<typeof adReportRequest>;

export const adReportResponse = z
  .object({
    outcome: z
      .enum(["recorded", "known"])
      .describe("`known`: this viewer has reported this ad today, and the first report counts."),
    server_time: z.iso.datetime(),
  })
  .meta({ examples: playerExamples.adReportResponse });
export type AdReportResponse = z.infer<typeof adReportResponse>;

/** `not-counted`: it was counted before, nothing was played yet, or the caller is a machine or unknown. */
export const clickResponse = z
  .object({ outcome: z.enum(["counted", "not-counted"]), server_time: z.iso.datetime() })
  .meta({ examples: playerExamples.clickResponse });
export type ClickResponse = z.infer<typeof clickResponse>;

export const statusRequest = z
  .object({
    token: z.string().min(1).max(128),
    next_ad: z.boolean().optional().describe("Also answers whether the user may watch another ad."),
  })
  .meta({ examples: playerExamples.statusRequest });
export type StatusRequest = z.infer<typeof statusRequest>;

/** The reward's status in the ad service. Whether it was credited is known to the publisher's API. */
export const statusResponse = z
  .object({
    state: viewState,
    review: viewReview
      .optional()
      .describe("Only with state `watched`: a held view earned nothing yet, a refused one earns nothing."),
    code: z
      .string()
      .optional()
      .describe(
        "The code that the view earns for. Another one than at the opening if the link of that code was followed meanwhile and its bot pays codes once.",
      ),
    accepted_ms: z.int().nonnegative(),
    event: z
      .object({
        event_id: z.string(),
        occurred_at: z.iso.datetime(),
        delivery: earnedDelivery,
        /** When the bot's backend accepted the webhook. */
        delivered_at: z.iso.datetime().optional(),
      })
      .optional()
      .describe("Present once the code earned it."),
    next_ad: availabilityResponse
      .extend({
        today: z
          .object({ earned: z.int().nonnegative(), daily_cap: z.int().positive() })
          .optional()
          .describe("With `available`: the ads that the viewer has earned for today, and the bot's daily cap."),
        media: z
          .object({ url: z.string(), poster_url: z.string().optional() })
          .optional()
          .describe(
            "The video that opening with `another` and this view's `code` would most likely choose, to load it early. Nothing is reserved.",
          ),
      })
      .optional()
      .describe(
        "Only if it was requested: whether opening with `another` would return an ad now, or when it may. A hint.",
      ),
    server_time: z.iso.datetime(),
  })
  .meta({ examples: playerExamples.statusResponse });
export type StatusResponse = z.infer<typeof statusResponse>;

import { z } from "zod";
import { sessionState, telegramId } from "./client-api.ts";

/**
 * The mini-app's side of the ad service: `/player/v1`, plain JSON that an inline script and a beacon can speak.
 *
 * - `POST /player/v1/sessions`                 openSessionRequest → openSessionResponse
 * - `POST /player/v1/sessions/{id}/reports`    reportRequest → reportResponse
 * - `POST /player/v1/sessions/{id}/faults`     faultRequest → faultResponse
 * - `POST /player/v1/sessions/{id}/status`     statusRequest → statusResponse
 *
 * A session's token travels in the body, never in an address, because a beacon has no headers of its own; so the same
 * body may come as `application/json` or, from a beacon, as `text/plain`. Errors use the envelope of `client-api`.
 */

export const openSessionRequest = z.object({
  bot_id: telegramId,
  /** Telegram's signed launch data, the raw string as it came. Identity comes from it alone. */
  init_data: z.string().min(1).max(8192),
  /** From `?code=`, or else from Telegram's `startapp` parameter. Without one the user's open code is used, or one is issued. */
  code: z.string().max(64).optional(),
  /** A further ad after one that was watched: neither `code` nor the code of the launch data is meant any more. */
  another: z.boolean().optional(),
});
export type OpenSessionRequest = z.infer<typeof openSessionRequest>;

/** The codes of refused openings (HTTP 400, 401, 403, 404, 409, 410 with the error envelope). */
export const openSessionRefusal = z.enum([
  "INIT_DATA_INVALID",
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
  /** `https://t.me/…`, where the bot has a username. */
  link: z.string().optional(),
  /** From which the reward's status is read; without one the ad service's own view is shown. */
  publisher_api_url: z.string().optional(),
});
export type BotForPlayer = z.infer<typeof botForPlayer>;

export const adForPlayer = z.object({
  /** Shown as text: who pays for the ad. */
  advertiser: z.string(),
  media_url: z.string(),
  media_type: z.string(),
  poster_url: z.string().optional(),
  duration_ms: z.int().positive(),
  width: z.int().positive(),
  height: z.int().positive(),
  /** The same video in lighter files, the heaviest first: for a player that stalls. They last equally long. */
  lighter_media: z.array(z.object({ url: z.string(), media_type: z.string() })).optional(),
  /** WebVTT; `language` is BCP 47, as `en` or `pt-BR`. */
  captions: z.array(z.object({ language: z.string(), url: z.string() })).optional(),
  /** The address leads through the ad service, which counts the tap once and redirects. */
  call_to_action: z.object({ label: z.string(), url: z.string() }).optional(),
  /** Of a VAST ad: what its `AdVerifications` name, for a player that runs them. */
  verifications: z
    .array(
      z.object({
        vendor: z.string().optional(),
        api_framework: z.string().optional(),
        resource: z.string().optional(),
        parameters: z.string().optional(),
      }),
    )
    .optional(),
});
export type AdForPlayer = z.infer<typeof adForPlayer>;

/** A view that was watched and closed but looks wrong: an operator decides about it, or it earns nothing. */
export const viewReview = z.enum(["held", "refused"]);
export type ViewReview = z.infer<typeof viewReview>;

export const openSessionResponse = z.discriminatedUnion("outcome", [
  z.object({
    /** There is something to watch (`opened`, `playing`), or it was watched already and this opening closed it (`rewarded`, or `watched` with its review). */
    outcome: z.literal("session"),
    bot: botForPlayer,
    session_id: z.string(),
    /** Replaces the token of an earlier opening, whose reports are then answered SUPERSEDED. */
    token: z.string(),
    code: z.string(),
    state: sessionState,
    /** Only beside `watched`: there is nothing more to watch, and no reward, or none yet. */
    review: viewReview.optional(),
    ad: adForPlayer,
    /** Accepted progress. Playback goes on from `resume_at_ms`. */
    accepted_ms: z.int().nonnegative(),
    resume_at_ms: z.int().nonnegative(),
    /** The first sequence number that this opening may use; lower ones were used by an earlier opening. */
    first_sequence: z.int().nonnegative(),
    server_time: z.iso.datetime(),
    /** After this moment nothing is accepted any more. */
    deadline: z.iso.datetime(),
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
    reason: z.enum(["cooldown", "daily-cap"]),
    available_at: z.iso.datetime(),
    server_time: z.iso.datetime(),
  }),
]);
export type OpenSessionResponse = z.infer<typeof openSessionResponse>;

/**
 * One range of continuous playback, up to 5 s of it as a rule and 30 s at most. Reports are a set keyed by `sequence`: order
 * does not matter, repeats add nothing.
 */
export const progressReport = z.object({
  sequence: z.int().nonnegative().max(1_000_000),
  /** Media position where the range began and ended, in milliseconds. */
  from_ms: z.int().nonnegative().max(86_400_000),
  to_ms: z.int().nonnegative().max(86_400_000),
  visible: z.boolean(),
  muted: z.boolean(),
  /** Video frames rendered in the range (`getVideoPlaybackQuality`), where the browser tells. */
  rendered_frames: z.int().nonnegative().optional(),
});
export type ProgressReport = z.infer<typeof progressReport>;

export const reportRequest = z.object({
  token: z.string().min(1).max(128),
  /** All ranges that were not acknowledged yet. Empty is a heartbeat, due each 5 s once `watched`. */
  reports: z.array(progressReport).max(300),
  /** The first call of playback: stamps the start on the server's clock. Repeats change nothing. */
  started: z.boolean().optional(),
  /** The user tapped close, or the page is going away. */
  closed: z.enum(["tap", "page-hidden"]).optional(),
});
export type ReportRequest = z.infer<typeof reportRequest>;

export const reportRefusalReason = z.enum(["hidden", "too-long", "backwards", "beyond-the-end", "not-started"]);
export type ReportRefusalReason = z.infer<typeof reportRefusalReason>;

export const reportResponse = z.object({
  state: sessionState,
  /** Only beside `watched`. */
  review: viewReview.optional(),
  accepted_ms: z.int().nonnegative(),
  /** Sequences that are settled, accepted or refused: do not send them again. */
  acknowledged: z.array(z.int()),
  refused: z.array(z.object({ sequence: z.int(), reason: reportRefusalReason })),
  /** Ranges that claim more than the server's clock allows yet: send them again after this long. They are not acknowledged. */
  too_early: z.object({ sequences: z.array(z.int()), retry_after_ms: z.int().positive() }).optional(),
  server_time: z.iso.datetime(),
});
export type ReportResponse = z.infer<typeof reportResponse>;

/**
 * Why a player gave its video up: it could not be fetched, did not go on in time, is of a type that the player does not
 * play, could be fetched and not be displayed, ends long before its stated duration; or anything else.
 */
export const playbackFault = z.enum(["not-found", "timeout", "unsupported", "not-displayed", "too-short", "other"]);
export type PlaybackFault = z.infer<typeof playbackFault>;

export const faultRequest = z.object({ token: z.string().min(1).max(128), fault: playbackFault });
export type FaultRequest = z.infer<typeof faultRequest>;

export const faultResponse = z.object({
  /** What the next opening of the code brings: where progress was accepted, the same ad goes on, unless its file is at fault. */
  next_opening: z.enum(["another-ad", "same-ad"]),
  server_time: z.iso.datetime(),
});
export type FaultResponse = z.infer<typeof faultResponse>;

/**
 * The codes of refused reports and faults (HTTP 401, 409, 410 with the error envelope). `LIMIT_REACHED` answers a report that
 * would start playback: the user earned elsewhere since the ad was opened, and opening again says until when to wait.
 */
export const reportRefusal = z.enum(["SESSION_UNKNOWN", "SUPERSEDED", "SESSION_OVER", "LIMIT_REACHED"]);

export const statusRequest = z.object({ token: z.string().min(1).max(128) });
export type StatusRequest = z.infer<typeof statusRequest>;

/** What the ad service itself knows of the reward; the publisher's API knows what was credited. */
export const statusResponse = z.object({
  state: sessionState,
  /** Only beside `watched`: what is held or refused earned nothing, or nothing yet. */
  review: viewReview.optional(),
  accepted_ms: z.int().nonnegative(),
  /** Present once the code earned it. */
  event: z
    .object({
      event_id: z.string(),
      occurred_at: z.iso.datetime(),
      delivery: z.enum(["on-its-way", "delivered", "delayed", "failed"]),
      /** When the bot's backend took the webhook. */
      delivered_at: z.iso.datetime().optional(),
    })
    .optional(),
  server_time: z.iso.datetime(),
});
export type StatusResponse = z.infer<typeof statusResponse>;

import type {
  AdForPlayer,
  BotForPlayer,
  FaultResponse,
  OpenSessionRefusal,
  OpenSessionResponse,
  ReportResponse,
  StatusResponse,
} from "@intermission/ad-core/player-api";
import { HttpError } from "@intermission/server/http-server";
import { namedRewardsOf } from "../bots/bot-settings.ts";
import type { Bot } from "../bots/bots.ts";
import type { AdVerification } from "../vast/vast-ad.ts";
import { resumePositionMs } from "./accept-progress.ts";
import { availabilityAnswer } from "./availability.ts";
import { type Ad, mediaAddress } from "./find-ad.ts";
import type { OpenSessionOutcome } from "./open-session.ts";
import type { SessionStatusOutcome } from "./read-session-status.ts";
import type { RecordFaultOutcome } from "./record-fault.ts";
import type { RecordProgressOutcome } from "./record-progress.ts";
import { type AdSession, clickAddress, type StoredState } from "./session.ts";

const NO_AD_RETRY_SECONDS = 60;

const openingRefusals = {
  INIT_DATA_INVALID: [401, "the launch data was not signed by Telegram for this bot"],
  INIT_DATA_EXPIRED: [401, "the launch data is too old: open the app again from the bot"],
  CODE_MALFORMED: [400, "the code is malformed"],
  CODE_UNKNOWN: [404, "the code is unknown"],
  CODE_EXPIRED: [410, "the code has expired"],
  CODE_USED: [409, "the code has already earned its reward"],
  CODE_OF_ANOTHER_USER: [403, "the code belongs to another user"],
  BOT_UNKNOWN: [404, "there is no such bot"],
  BOT_SUSPENDED: [403, "the bot is suspended"],
} satisfies Record<OpenSessionRefusal, [status: number, message: string]>;

const callRefusals = {
  unknown: [401, "SESSION_UNKNOWN", "the session is unknown, or the token is not valid for it"],
  superseded: [409, "SUPERSEDED", "the session was opened again elsewhere, with a new token"],
  over: [410, "SESSION_OVER", "the session's deadline has passed"],
} satisfies Record<string, [status: number, code: string, message: string]>;

/** The response bodies of `/player/v1`. Refusals are thrown as `HttpError`s. */
export function openingAnswer(
  outcome: Exclude<OpenSessionOutcome, { outcome: "too-many" }>,
  publicUrl: string,
  now: Date,
): OpenSessionResponse {
  if (outcome.outcome === "refused") {
    const [status, message] = openingRefusals[outcome.reason];
    const link = outcome.bot && botForPlayer(outcome.bot).link;
    throw new HttpError(status, outcome.reason, message, link ? { details: { bot_link: link } } : {});
  }
  const shared = { bot: botForPlayer(outcome.bot), server_time: now.toISOString() };
  if (outcome.outcome === "no-ad") return { outcome: "no-ad", ...shared, retry_after_seconds: NO_AD_RETRY_SECONDS };
  if (outcome.outcome === "limit-reached") {
    const { reason, availableAt } = outcome;
    return { outcome: "limit-reached", ...shared, reason, available_at: availableAt.toISOString() };
  }
  const { session, token, ad } = outcome;
  const rewards = namedRewardsOf(outcome.bot);
  return {
    outcome: "session",
    ...shared,
    session_id: session.sessionId,
    token,
    code: session.code,
    ...stateForPlayer(session.state),
    ad: adForPlayer(ad, publicUrl, session),
    ...(rewards && { rewards }),
    accepted_ms: session.acceptedMs,
    resume_at_ms: resumePositionMs(session.progress),
    first_sequence: session.firstSequence,
    deadline: session.deadline.toISOString(),
  };
}

export function reportAnswer(outcome: RecordProgressOutcome, now: Date): ReportResponse {
  if (outcome.outcome === "limited") throw limitReached(outcome);
  if (outcome.outcome !== "recorded") throw callRefusal(outcome.outcome);
  const { state, acceptedMs, acknowledged, refused, tooEarly } = outcome;
  return {
    ...stateForPlayer(state),
    accepted_ms: acceptedMs,
    acknowledged,
    refused,
    ...(tooEarly && { too_early: { sequences: tooEarly.sequences, retry_after_ms: tooEarly.retryAfterMs } }),
    server_time: now.toISOString(),
  };
}

export function faultAnswer(outcome: RecordFaultOutcome, now: Date): FaultResponse {
  if (outcome.outcome !== "recorded") throw callRefusal(outcome.outcome);
  return { next_opening: outcome.nextOpening, server_time: now.toISOString() };
}

export function statusAnswer(outcome: SessionStatusOutcome, now: Date): StatusResponse {
  if (outcome.outcome !== "found") throw callRefusal(outcome.outcome);
  const { state, acceptedMs, event, nextAd } = outcome;
  return {
    ...stateForPlayer(state),
    accepted_ms: acceptedMs,
    ...(event && {
      event: {
        event_id: event.eventId,
        occurred_at: event.occurredAt.toISOString(),
        delivery: event.delivery,
        ...(event.deliveredAt && { delivered_at: event.deliveredAt.toISOString() }),
      },
    }),
    ...(nextAd && { next_ad: availabilityAnswer(nextAd) }),
    server_time: now.toISOString(),
  };
}

/** Held and refused views were watched: players that do not know `review` see only `watched`. */
function stateForPlayer(state: StoredState): Pick<StatusResponse, "state" | "review"> {
  return state === "held" || state === "refused" ? { state: "watched", review: state } : { state };
}

/** Opening the session again returns the same limit, with everything that the player's screen needs. */
function limitReached({ reason, availableAt }: Extract<RecordProgressOutcome, { outcome: "limited" }>): HttpError {
  const details = { reason, available_at: availableAt.toISOString() };
  return new HttpError(409, "LIMIT_REACHED", "the viewer may not earn yet: open the session again", { details });
}

function callRefusal(outcome: keyof typeof callRefusals): HttpError {
  return new HttpError(...callRefusals[outcome]);
}

function botForPlayer(bot: Bot): BotForPlayer {
  const { botId, name, username, publisherApiUrl, skipOffer, closeWhenCredited } = bot;
  return {
    bot_id: botId,
    name,
    ...(username && { link: `https://t.me/${username}` }),
    ...(publisherApiUrl && { publisher_api_url: publisherApiUrl }),
    ...(skipOffer && { skip_offer: true }),
    ...(closeWhenCredited && { close_when_credited: true }),
  };
}

function adForPlayer(ad: Ad, publicUrl: string, session: AdSession): AdForPlayer {
  const { advertiser, posterFileName, mediaType, durationMs, width, height, endCard } = ad;
  const callOf = ({ callToAction, landingUrl }: Pick<Ad, "callToAction" | "landingUrl">, place?: "end-card") =>
    callToAction &&
    landingUrl && { call_to_action: { label: callToAction, url: clickAddress(publicUrl, session, place) } };
  const media = (fileName: string | null) => mediaAddress(publicUrl, fileName ?? "");
  return {
    advertiser,
    media_url: ad.mediaUrl ?? media(ad.fileName),
    ...(posterFileName && { poster_url: media(posterFileName) }),
    media_type: mediaType,
    duration_ms: durationMs,
    width,
    height,
    ...(ad.lighter.length > 0 && {
      lighter_media: ad.lighter.map((file) => ({ url: media(file.fileName), media_type: file.mediaType })),
    }),
    ...(ad.captions.length > 0 && {
      captions: ad.captions.map(({ language, fileName }) => ({ language, url: media(fileName) })),
    }),
    ...callOf(ad),
    ...(endCard && {
      end_card: {
        ...{ poster_url: endCard.imageUrl, width: endCard.width, height: endCard.height },
        ...callOf(endCard, "end-card"),
      },
    }),
    ...(ad.verifications.length > 0 && { verifications: ad.verifications.map(verificationForPlayer) }),
  };
}

function verificationForPlayer({ vendor, apiFramework, resource, parameters }: AdVerification) {
  return {
    ...(vendor && { vendor }),
    ...(apiFramework && { api_framework: apiFramework }),
    ...(resource && { resource }),
    ...(parameters && { parameters }),
  };
}

import type {
  AdForPlayer,
  BotForPlayer,
  OpenSessionRefusal,
  OpenSessionResponse,
} from "@intermission/ad-core/player-api";
import type { TelegramServers } from "@intermission/ad-core/telegram-init-data";
import type { Bot } from "@intermission/operator-api/bots";
import { HttpError } from "@intermission/server/http-server";
import { namedRewardsOf } from "../bots/bot-settings.ts";
import { joinReward } from "../codes/join-reward.ts";
import { mediaAddress } from "../creatives/media-storage.ts";
import type { AdVerification } from "../vast/vast-ad.ts";
import { resumePositionMs } from "./accept-progress.ts";
import { type AdView, stateForPlayer } from "./ad-view.ts";
import type { Ad } from "./find-ad.ts";
import { opensOf } from "./landing-page.ts";
import type { OpenViewOutcome } from "./open-view.ts";
import { clickAddress } from "./session-token.ts";
import type { RefusedLaunch } from "./verify-launch.ts";

const NO_AD_RETRY_SECONDS = 60;

const openingRefusals = {
  INIT_DATA_INVALID: [401, "the launch data was not signed by Telegram for this bot"],
  INIT_DATA_WITHOUT_USER: [
    401,
    "the launch data names no user: Telegram passes none to buttons of a reply keyboard, so open the app from an inline button, the menu button or a link",
  ],
  INIT_DATA_EXPIRED: [401, "the launch data is too old: open the app again from the bot"],
  CODE_MALFORMED: [400, "the code is malformed"],
  CODE_UNKNOWN: [404, "the code is unknown"],
  CODE_EXPIRED: [410, "the code has expired"],
  CODE_USED: [409, "the code has already earned its reward"],
  CODE_OF_ANOTHER_USER: [403, "the code belongs to another user"],
  BOT_UNKNOWN: [404, "there is no such bot"],
  BOT_SUSPENDED: [403, "the bot is suspended"],
} satisfies Record<OpenSessionRefusal, [status: number, message: string]>;

export const otherServers = {
  test: "the launch data was signed by Telegram's test servers: TELEGRAM_TEST_SERVERS=on accepts them, in a deployment of their own",
  production:
    "the launch data was not signed by Telegram's test servers: with TELEGRAM_TEST_SERVERS=on no others are accepted",
} satisfies Record<TelegramServers, string>;

/** The response body of an opening. Refusals are thrown as `HttpError`s. */
export function openingAnswer(
  outcome: Exclude<OpenViewOutcome, { outcome: "too-many" }>,
  publicUrl: string,
  now: Date,
): OpenSessionResponse {
  if (outcome.outcome === "refused") throw openingRefusal(outcome, publicUrl);
  const shared = { bot: botForPlayer(outcome.bot, publicUrl), server_time: now.toISOString() };
  if (outcome.outcome === "no-ad") return { outcome: "no-ad", ...shared, retry_after_seconds: NO_AD_RETRY_SECONDS };
  if (outcome.outcome === "limit-reached") {
    const { reason, availableAt } = outcome;
    return { outcome: "limit-reached", ...shared, reason, available_at: availableAt.toISOString() };
  }
  const { view, token, ad, joinTitle } = outcome;
  const rewards = joinTitle === null ? rewardsForPlayer(outcome.bot, publicUrl) : { rewarded: joinReward(joinTitle) };
  // The publisher's ledger counts coins: it knows nothing of a place in a channel, nor of an ad that rewards nobody.
  const { publisher_api_url: _ledger, ...withoutLedger } = shared.bot;
  const { skipAfterMs } = view;
  return {
    outcome: "session",
    ...shared,
    ...(joinTitle !== null && { bot: withoutLedger }),
    ...(skipAfterMs !== null && { bot: { ...withoutLedger, skip_offer: true as const }, skip_after_ms: skipAfterMs }),
    session_id: view.viewId,
    token,
    code: view.code,
    ...stateForPlayer(view.state),
    ad: adForPlayer(ad, { publicUrl, view, now }),
    ...(rewards && skipAfterMs === null && { rewards }),
    accepted_ms: view.acceptedMs,
    resume_at_ms: resumePositionMs(view.progress),
    first_sequence: view.firstSequence,
    deadline: view.deadline.toISOString(),
  };
}

export function openingRefusal({ reason, signedBy, bot }: RefusedLaunch, publicUrl: string): HttpError {
  const [status, usual] = openingRefusals[reason];
  const message = signedBy === undefined ? usual : otherServers[signedBy];
  const link = bot && botForPlayer(bot, publicUrl).link;
  return new HttpError(status, reason, message, link ? { details: { bot_link: link } } : {});
}

function rewardsForPlayer(bot: Bot, publicUrl: string) {
  const rewards = namedRewardsOf(bot);
  if (rewards?.rewarded === undefined || bot.unitIconFileName === null) return rewards;
  return { ...rewards, rewarded: { ...rewards.rewarded, icon_url: mediaAddress(publicUrl, bot.unitIconFileName) } };
}

export function botForPlayer(bot: Bot, publicUrl: string): BotForPlayer {
  const { botId, name, username, pictureFileName, publisherApiUrl, skipOffer, closeWhenCredited } = bot;
  return {
    bot_id: botId,
    name,
    ...(username && { link: `https://t.me/${username}` }),
    ...(pictureFileName && { picture_url: mediaAddress(publicUrl, pictureFileName) }),
    ...(publisherApiUrl && { publisher_api_url: publisherApiUrl }),
    ...(skipOffer && { skip_offer: true }),
    ...(closeWhenCredited && { close_when_credited: true }),
  };
}

function adForPlayer(ad: Ad, { publicUrl, view, now }: { publicUrl: string; view: AdView; now: Date }): AdForPlayer {
  const { advertiser, posterFileName, mediaType, durationMs, width, height, endCard } = ad;
  const callOf = ({ callToAction, landingUrl }: Pick<Ad, "callToAction" | "landingUrl">, place?: "end-card") =>
    callToAction !== null &&
    landingUrl && {
      call_to_action: {
        ...(callToAction && { label: callToAction }),
        url: clickAddress(publicUrl, view, place),
        opens: opensOf(landingUrl, view, { now, erid: ad.erid }),
      },
    };
  const media = (fileName: string | null) => mediaAddress(publicUrl, fileName ?? "");
  return {
    advertiser,
    ...(ad.title && { title: ad.title }),
    ...(ad.marking && { marking: ad.marking }),
    ...(ad.legalLine && { legal_line: ad.legalLine }),
    ...(ad.shownBecause.length > 0 && { shown_because: [...ad.shownBecause] }),
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
        poster_url: endCard.imageUrl,
        width: endCard.width,
        height: endCard.height,
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

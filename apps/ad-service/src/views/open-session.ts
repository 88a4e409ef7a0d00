import { isCode } from "@intermission/ad-core/code";
import type { OpenSessionRefusal } from "@intermission/ad-core/player-api";
import {
  continuationMaxAgeSeconds,
  isOnlyForContinuing,
  verifyInitDataWithBotId,
} from "@intermission/ad-core/telegram-init-data";
import { type CommitGroup, groupCommits } from "@intermission/postgres/group-commits";
import { type Database, statement } from "@intermission/postgres/open-database";
import { type RateLimiter, secondsToWait } from "@intermission/server/rate-limiter";
import type { NoAdReason } from "../ad-selection/choose-ad.ts";
import { languageOf, platformOf } from "../ad-selection/eligibility.ts";
import type { ViewerLimit } from "../ad-selection/limit-of-viewer.ts";
import { type Bot, findBot } from "../bots/bots.ts";
import type { Device } from "../creatives/choose-rendition.ts";
import { type EnterViewDeps, type EnterViewOutcome, enterView, refused } from "./enter-view.ts";
import type { Ad } from "./find-ad.ts";
import type { AdSession } from "./session.ts";

/** A refused ad request. Only requests of users whose identity Telegram has confirmed are stored. */
export interface UnfilledRequest {
  botId: string;
  userId: string;
  code: string | undefined;
  /** `limited` (by the publisher's cooldown or cap) and `refused` (because of the code) end before an ad is requested. */
  outcome: "no-ad" | "limited" | "refused";
  reason: string;
  now: Date;
}

const insertUnfilled = statement<never>(
  "ad-requests.unfilled",
  `insert into ad_requests (bot_id, user_id, code, outcome, reason, occurred_at)
   select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[])`,
);

/** Stores unfilled requests, many in one commit. */
export function unfilledRequestRecorder(database: Database): CommitGroup<UnfilledRequest, undefined> {
  return groupCommits<UnfilledRequest, undefined>({
    store: database.kind,
    async run(batch) {
      await database.run(insertUnfilled, [
        batch.map(({ botId }) => botId),
        batch.map(({ userId }) => userId),
        batch.map(({ code }) => code ?? null),
        batch.map(({ outcome }) => outcome),
        batch.map(({ reason }) => reason),
        batch.map(({ now }) => now),
      ]);
      return batch.map(() => undefined);
    },
  });
}

export interface OpenSessionDeps extends EnterViewDeps {
  database: Database;
  /** Hex. Telegram's key; for the demo's bot only, the demo's key. */
  telegramPublicKeyFor: (botId: string) => string;
  /** Keyed by the user of verified launch data, so that differently encoded launch data of one user shares a budget. */
  openings: RateLimiter;
  unfilledRequests: { submit(request: UnfilledRequest): Promise<unknown> };
}

export interface OpenSessionInput {
  botId: string;
  initData: string;
  code: string | undefined;
  /** The viewer wants another ad, regardless of the code that the app was opened with. */
  isAnother: boolean;
  /** The browser's user agent: campaigns may target a platform. */
  userAgent: string | undefined;
  device: Device;
  /** Numbers in [0, 1), for the choice of the ad. */
  random: () => number;
  sessionId: string;
  token: string;
  eventId: string;
  now: Date;
}

export type OpenSessionOutcome =
  | { outcome: "session"; bot: Bot; session: AdSession; token: string; ad: Ad }
  | { outcome: "no-ad"; bot: Bot; reason: NoAdReason }
  | ({ outcome: "limit-reached"; bot: Bot } & Pick<
      Extract<ViewerLimit, { outcome: "limited" }>,
      "reason" | "availableAt"
    >)
  | { outcome: "too-many"; waitSeconds: number }
  /** Includes the bot if the launch data is authentic but too old. */
  | { outcome: "refused"; reason: OpenSessionRefusal; bot?: Bot };

export async function openSession(deps: OpenSessionDeps, input: OpenSessionInput): Promise<OpenSessionOutcome> {
  const { database } = deps;
  const bot = await findBot(database, input.botId);
  if (!bot) return refused("BOT_UNKNOWN");
  if (bot.isSuspended) return refused("BOT_SUSPENDED");

  const { initData, botId, now } = input;
  const key = { publicKey: deps.telegramPublicKeyFor(botId), maxAgeSeconds: continuationMaxAgeSeconds };
  const verified = await verifyInitDataWithBotId({ initData, botId, now, ...key });
  if (verified.outcome === "refused") {
    return verified.reason === "stale" ? { ...refused("INIT_DATA_EXPIRED"), bot } : refused("INIT_DATA_INVALID");
  }
  const userId = verified.user.id;
  const waitSeconds = secondsToWait(deps.openings, `${botId} ${userId}`, now);
  if (waitSeconds > 0) return { outcome: "too-many", waitSeconds };
  const launchCode = verified.startParam && isCode(verified.startParam) ? verified.startParam : undefined;
  const wanted = input.isAnother ? undefined : (input.code ?? launchCode);
  const isTest = bot.testers.includes(userId);
  const user = {
    language: languageOf(verified.user.languageCode),
    platform: platformOf(input.userAgent),
    isPremium: verified.user.isPremium ?? false,
  };
  // Old launch data can only continue a session of its user. It never begins one, even if the session disappears meanwhile.
  const mustContinue = isOnlyForContinuing(verified, now);
  if (mustContinue && input.isAnother) return { ...refused("INIT_DATA_EXPIRED"), bot };
  const ad = { format: "rewarded" as const, bot, userId, user };
  const { userAgent = "", device, random, sessionId, token, eventId } = input;
  const shared = { device, random, sessionId, token, eventId, now };
  const entered = await enterView(deps, { bot, userId, wanted, mustContinue, ad, userAgent, isTest, ...shared });
  const opened = openedBy(entered, bot, token);
  if (opened.outcome === "refused" && opened.reason === "INIT_DATA_EXPIRED") return { ...opened, bot };
  const unfilled = unfilledOf(opened);
  if (unfilled && !isTest) {
    const code = wanted !== undefined && isCode(wanted) ? wanted : undefined;
    await deps.unfilledRequests.submit({ botId, userId, code, ...unfilled, now });
  }
  return opened;
}

function openedBy(entered: EnterViewOutcome, bot: Bot, token: string): OpenSessionOutcome {
  switch (entered.outcome) {
    case "entered":
      return { outcome: "session", bot, session: entered.session, token, ad: entered.ad };
    case "limited":
      return { ...entered, outcome: "limit-reached", bot };
    case "no-ad":
      return { ...entered, bot };
    default:
      return entered;
  }
}

function unfilledOf(opened: OpenSessionOutcome): Pick<UnfilledRequest, "outcome" | "reason"> | undefined {
  if (opened.outcome === "session" || opened.outcome === "too-many") return undefined;
  if (opened.outcome === "no-ad") return { outcome: "no-ad", reason: opened.reason };
  if (opened.outcome === "limit-reached") return { outcome: "limited", reason: opened.reason };
  return { outcome: "refused", reason: opened.reason.toLowerCase().replaceAll("_", "-") };
}

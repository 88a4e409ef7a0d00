import { isCode } from "@intermission/ad-core/code";
import type { OpenSessionRefusal } from "@intermission/ad-core/player-api";
import {
  continuationMaxAgeSeconds,
  isOnlyForContinuing,
  verifyInitDataWithBotId,
} from "@intermission/ad-core/telegram-init-data";
import type { AdDatabase } from "../ad-database.ts";
import { languageOf, platformOf } from "../ad-selection/ad-request.ts";
import type { CampaignSnapshot } from "../ad-selection/campaign-snapshot.ts";
import type { NoAdReason } from "../ad-selection/choose-ad.ts";
import type { AdWish } from "../ad-selection/select-ad.ts";
import { type Bot, findBot } from "../bots/find-bot.ts";
import { type FoundCode, findCode } from "../codes/find-code.ts";
import { openCodeOfUser } from "../codes/open-code-of-user.ts";
import type { Device } from "../creatives/describe-device.ts";
import type { FillFromTag } from "../vast/fill-from-tag.ts";
import { findViewer } from "../viewers/find-viewer.ts";
import { limitOfViewer, type ViewerLimit } from "../viewers/limit-of-viewer.ts";
import type { Deliveries } from "../webhook-delivery/deliveries.ts";
import type { CallBudget } from "./call-budget.ts";
import { enterWithTags } from "./enter-with-tags.ts";
import type { Ad } from "./find-ad.ts";
import { findContinuableCode, findUnfinishedCode } from "./find-unfinished-views.ts";
import type { UnfilledRequest } from "./record-request.ts";
import type { AdSession } from "./rows.ts";

export interface OpenSessionDeps {
  database: AdDatabase;
  campaigns: CampaignSnapshot;
  deliveries: Deliveries;
  fillFromTag: FillFromTag;
  /** Hex: Telegram's key, or for the demo's bot alone the demo's. */
  telegramPublicKeyFor: (botId: string) => string;
  /** Of a user whose launch data was verified: respelled, they are the same user's. */
  openings: CallBudget;
  unfilledRequests: { submit(request: UnfilledRequest): Promise<unknown> };
}

export interface OpenSessionInput {
  botId: string;
  initData: string;
  code: string | undefined;
  /** A further ad is wanted, whatever code the app was opened with. */
  isAnother: boolean;
  /** What the browser says of itself: ads may be meant for a platform. */
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
  /** The bot where the launch data is authentic, though too old. */
  | { outcome: "refused"; reason: OpenSessionRefusal; bot?: Bot };

export async function openSession(deps: OpenSessionDeps, input: OpenSessionInput): Promise<OpenSessionOutcome> {
  const { database } = deps;
  const bot = await findBot(database, input.botId);
  if (!bot) return refused("BOT_UNKNOWN");
  if (bot.isSuspended) return refused("BOT_SUSPENDED");

  const { initData, botId, now } = input;
  const key = { publicKey: deps.telegramPublicKeyFor(botId), maxAgeSeconds: continuationMaxAgeSeconds };
  const verified = verifyInitDataWithBotId({ initData, botId, now, ...key });
  if (verified.outcome === "refused") {
    return verified.reason === "stale" ? { ...refused("INIT_DATA_EXPIRED"), bot } : refused("INIT_DATA_INVALID");
  }
  const userId = verified.user.id;
  const waitSeconds = deps.openings(`${botId} ${userId}`, now);
  if (waitSeconds > 0) return { outcome: "too-many", waitSeconds };
  const launchCode = verified.startParam && isCode(verified.startParam) ? verified.startParam : undefined;
  const wanted = input.isAnother ? undefined : (input.code ?? launchCode);
  const isTest = bot.testers.includes(userId);
  const user = {
    language: languageOf(verified.user.languageCode),
    platform: platformOf(input.userAgent),
    isPremium: verified.user.isPremium ?? false,
  };
  // Old launch data continues a session of its user. It never begins one, also when the session vanishes meanwhile.
  const mustContinue = isOnlyForContinuing(verified, now);
  if (mustContinue && input.isAnother) return { ...refused("INIT_DATA_EXPIRED"), bot };
  const wish = { bot, userId, wanted, mustContinue, now };
  const opened = await openForUser(deps, wish, { ...input, mustContinue, isTest, user });
  if (opened.outcome === "refused" && opened.reason === "INIT_DATA_EXPIRED") return { ...opened, bot };
  const unfilled = unfilledOf(opened);
  if (unfilled && !isTest) {
    const code = wanted !== undefined && isCode(wanted) ? wanted : undefined;
    await deps.unfilledRequests.submit({ botId, userId, code, ...unfilled, now });
  }
  return opened;
}

async function openForUser(
  deps: OpenSessionDeps,
  wish: CodeWish,
  input: OpenSessionInput & { mustContinue: boolean; isTest: boolean; user: AdWish["user"] },
): Promise<OpenSessionOutcome> {
  const { database, campaigns, deliveries } = deps;
  const { bot, userId } = wish;
  const picked = await pickCode(database, wish);
  if (picked.outcome === "refused") return picked;
  if (picked.outcome === "limited") return { ...picked, outcome: "limit-reached", bot };

  const ad: AdWish = { format: "rewarded", bot, userId, user: input.user };
  const entered = await enterWithTags(deps, { ...input, code: picked.code, limits: bot, campaigns, wish: ad });
  if (entered.outcome === "refused") return entered;
  if (entered.outcome === "no-ad") return { ...entered, bot };
  if (entered.outcome === "limited") return { ...entered, outcome: "limit-reached", bot };
  if (entered.session.state === "rewarded") deliveries.wake();
  return { outcome: "session", bot, session: entered.session, token: input.token, ad: entered.ad };
}

function unfilledOf(opened: OpenSessionOutcome): Pick<UnfilledRequest, "outcome" | "reason"> | undefined {
  if (opened.outcome === "session" || opened.outcome === "too-many") return undefined;
  if (opened.outcome === "no-ad") return { outcome: "no-ad", reason: opened.reason };
  if (opened.outcome === "limit-reached") return { outcome: "limited", reason: opened.reason };
  return { outcome: "refused", reason: opened.reason.toLowerCase().replaceAll("_", "-") };
}

type PickedCode =
  | { outcome: "code"; code: FoundCode }
  | Extract<ViewerLimit, { outcome: "limited" }>
  | Extract<OpenSessionOutcome, { outcome: "refused" }>;

interface CodeWish {
  bot: Bot;
  userId: string;
  wanted: string | undefined;
  mustContinue: boolean;
  now: Date;
}

/** The code in hand; else that of the view which the user left last; else the open one, or a new one. */
async function pickCode(database: AdDatabase, wish: CodeWish): Promise<PickedCode> {
  const { bot, userId, wanted, mustContinue, now } = wish;
  const who = { botId: bot.botId, userId, now };
  const find = mustContinue ? findContinuableCode : findUnfinishedCode;
  const known = wanted ?? (await find(database, who));
  if (known !== undefined) return checkCode(database, { botId: bot.botId, userId, code: known, now });
  if (mustContinue) return refused("INIT_DATA_EXPIRED");
  // Asked before a code is issued, so that a user who may not earn leaves no rows behind. Decided under the lock later.
  const limit = limitOfViewer(await findViewer(database, who), bot, now);
  if (limit.outcome === "limited") return limit;
  const code = await openCodeOfUser(database, { bot, userId, now });
  return checkCode(database, { botId: bot.botId, userId, code, now });
}

async function checkCode(
  database: AdDatabase,
  { botId, userId, code, now }: { botId: string; userId: string; code: string; now: Date },
): Promise<PickedCode> {
  if (!isCode(code)) return refused("CODE_MALFORMED");
  const found = await findCode(database, { code, now });
  if (!found || found.botId !== botId) return refused("CODE_UNKNOWN");
  if (found.userId !== userId) return refused("CODE_OF_ANOTHER_USER");
  return { outcome: "code", code: found };
}

function refused(reason: OpenSessionRefusal): { outcome: "refused"; reason: OpenSessionRefusal } {
  return { outcome: "refused", reason };
}

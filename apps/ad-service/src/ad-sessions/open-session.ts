import { isCode } from "@intermission/ad-core/code";
import type { OpenSessionRefusal } from "@intermission/ad-core/player-api";
import { verifyInitDataWithBotId } from "@intermission/ad-core/telegram-init-data";
import type { AdDatabase } from "../ad-database.ts";
import type { CampaignSnapshot } from "../ad-selection/campaign-snapshot.ts";
import { type Bot, findBot } from "../bots/find-bot.ts";
import { type FoundCode, findCode } from "../codes/find-code.ts";
import { openCodeOfUser } from "../codes/open-code-of-user.ts";
import { findViewer } from "../viewers/find-viewer.ts";
import { limitOfViewer, type ViewerLimit } from "../viewers/limit-of-viewer.ts";
import { wakeDeliveries } from "../webhook-delivery/wake-deliveries.ts";
import { enterSession } from "./enter-session.ts";
import type { Ad } from "./find-ad.ts";
import { findUnfinishedCode } from "./find-unfinished-views.ts";
import type { AdSession } from "./rows.ts";

export interface OpenSessionDeps {
  database: AdDatabase;
  campaigns: Pick<CampaignSnapshot, "candidates">;
  /** Hex: Telegram's key, or for the demo's bot alone the demo's. */
  telegramPublicKeyFor: (botId: string) => string;
}

export interface OpenSessionInput {
  botId: string;
  initData: string;
  code: string | undefined;
  /** A further ad is wanted, whatever code the app was opened with. */
  isAnother: boolean;
  /** Drawn for the choice of the ad, in [0, 1). */
  chance: number;
  sessionId: string;
  token: string;
  eventId: string;
  now: Date;
}

export type OpenSessionOutcome =
  | { outcome: "session"; bot: Bot; session: AdSession; token: string; ad: Ad }
  | { outcome: "no-ad"; bot: Bot }
  | ({ outcome: "limit-reached"; bot: Bot } & Pick<
      Extract<ViewerLimit, { outcome: "limited" }>,
      "reason" | "availableAt"
    >)
  | { outcome: "refused"; reason: OpenSessionRefusal };

export async function openSession(deps: OpenSessionDeps, input: OpenSessionInput): Promise<OpenSessionOutcome> {
  const { database } = deps;
  const bot = await findBot(database, input.botId);
  if (!bot) return refused("BOT_UNKNOWN");
  if (bot.isSuspended) return refused("BOT_SUSPENDED");

  const { initData, botId, now } = input;
  const verified = verifyInitDataWithBotId({ initData, botId, now, publicKey: deps.telegramPublicKeyFor(botId) });
  if (verified.outcome === "refused") {
    return refused(verified.reason === "stale" ? "INIT_DATA_EXPIRED" : "INIT_DATA_INVALID");
  }
  const userId = verified.user.id;
  const launchCode = verified.startParam && isCode(verified.startParam) ? verified.startParam : undefined;

  const wanted = input.isAnother ? undefined : (input.code ?? launchCode);
  const picked = await pickCode(database, { bot, userId, wanted, now });
  if (picked.outcome === "refused") return picked;
  if (picked.outcome === "limited") return { ...picked, outcome: "limit-reached", bot };

  const candidates = deps.campaigns.candidates("rewarded");
  const entered = await enterSession(database, { ...input, code: picked.code, limits: bot, candidates });
  if (entered.outcome === "refused") return entered;
  if (entered.outcome === "no-ad") return { outcome: "no-ad", bot };
  if (entered.outcome === "limited") return { ...entered, outcome: "limit-reached", bot };
  if (entered.session.state === "rewarded") wakeDeliveries();
  return { outcome: "session", bot, session: entered.session, token: input.token, ad: entered.ad };
}

type PickedCode =
  | { outcome: "code"; code: FoundCode }
  | Extract<ViewerLimit, { outcome: "limited" }>
  | Extract<OpenSessionOutcome, { outcome: "refused" }>;

interface CodeWish {
  bot: Bot;
  userId: string;
  wanted: string | undefined;
  now: Date;
}

/** The code in hand; else that of the view which the user left last; else the open one, or a new one. */
async function pickCode(database: AdDatabase, { bot, userId, wanted, now }: CodeWish): Promise<PickedCode> {
  const who = { botId: bot.botId, userId, now };
  const known = wanted ?? (await findUnfinishedCode(database, who));
  if (known !== undefined) return checkCode(database, { botId: bot.botId, userId, code: known, now });
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

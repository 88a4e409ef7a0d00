import type { KeyObject } from "node:crypto";
import type { OpenSessionRefusal } from "@intermission/ad-core/player-api";
import {
  CONTINUATION_MAX_AGE_SECONDS,
  type InitDataRefusal,
  type InitDataUser,
  isOnlyForContinuing,
  publicKeyOf,
  type TelegramServers,
  telegramPublicKeys,
  verifyInitDataWithBotId,
} from "@intermission/ad-core/telegram-init-data";
import type { Bot } from "@intermission/operator-api/bots";
import type { SecretBox } from "@intermission/server/secret-box";
import { type Bots, findBot } from "../bots/bots.ts";
import { readAppGrant } from "./app-grant.ts";

/** The keys of Telegram's servers that may launch the mini-app, and of those that may not. */
export interface LaunchKeys {
  accepted: KeyObject;
  /** Of Telegram's other servers. Launch data signed with it is refused, and told apart from forged data. */
  refused?: { servers: TelegramServers; publicKey: KeyObject };
}

/** A deployment accepts one kind of servers: on both, a user of one could have the id of a user of the other. */
export function launchKeysOf(servers: TelegramServers): LaunchKeys {
  const others = servers === "test" ? "production" : "test";
  const keyOf = (which: TelegramServers) => publicKeyOf(telegramPublicKeys[which]);
  return { accepted: keyOf(servers), refused: { servers: others, publicKey: keyOf(others) } };
}

export interface LaunchDeps {
  bots: Bots;
  /** Telegram's keys; for the demo's bot only, the demo's key. */
  launchKeysFor: (botId: string) => LaunchKeys;
  /** Of app grants. */
  secretBox: SecretBox;
}

/** What shows who the user is: Telegram's launch data, or the app grant that was opened with it. */
export type LaunchProof = { initData: string } | { appGrant: string };

/** A launch of a bot's app by a user whom Telegram confirms. */
export interface VerifiedLaunch {
  outcome: "verified";
  bot: Bot;
  user: InitDataUser;
  signedStartParam: string | undefined;
  /** As Telegram signed it; undefined for an app grant. */
  initData: string | undefined;
  /** Old launch data can only continue a view of its user. It never begins one, even if the view disappears meanwhile. */
  mustContinue: boolean;
  /** By an app grant: the publisher's own mini-app shows the ad in a frame. */
  isInApp: boolean;
}

export interface RefusedLaunch {
  outcome: "refused";
  reason: OpenSessionRefusal;
  /** Only if the launch data is authentic, but too old. */
  bot?: Bot;
  /** Servers of Telegram that may not launch the app. */
  signedBy?: TelegramServers;
}

export async function verifyLaunch(
  { bots, launchKeysFor, secretBox }: LaunchDeps,
  { botId, now, ...proof }: { botId: string; now: Date } & LaunchProof,
): Promise<VerifiedLaunch | RefusedLaunch> {
  const bot = await findBot(bots, botId);
  if (!bot) return refused("BOT_UNKNOWN");
  if (bot.isSuspended) return refused("BOT_SUSPENDED");
  if ("appGrant" in proof) {
    const grant = readAppGrant(secretBox, { token: proof.appGrant, bot, now });
    if (grant.outcome !== "valid") return refused(grantRefusals[grant.outcome]);
    const { user, startParam } = grant;
    const signed = { signedStartParam: startParam, initData: undefined };
    return { outcome: "verified", bot, user, ...signed, mustContinue: false, isInApp: true };
  }
  const { accepted: publicKey, refused: others } = launchKeysFor(botId);
  const keys = { publicKey, otherPublicKey: others?.publicKey };
  const maxAgeSeconds = CONTINUATION_MAX_AGE_SECONDS;
  const verified = await verifyInitDataWithBotId({ initData: proof.initData, botId, now, maxAgeSeconds, ...keys });
  if (verified.outcome === "valid") {
    const { user, startParam: signedStartParam } = verified;
    const mustContinue = isOnlyForContinuing(verified, now);
    const { initData } = proof;
    return { outcome: "verified", bot, user, signedStartParam, initData, mustContinue, isInApp: false };
  }
  const reason = refusalOf[verified.reason];
  if (verified.reason === "other-servers" && others) return { ...refused(reason), signedBy: others.servers };
  return reason === "INIT_DATA_EXPIRED" ? { ...refused(reason), bot } : refused(reason);
}

const refused = (reason: OpenSessionRefusal): RefusedLaunch => ({ outcome: "refused", reason });

const grantRefusals = {
  invalid: "INIT_DATA_INVALID",
  expired: "INIT_DATA_EXPIRED",
} as const satisfies Record<string, OpenSessionRefusal>;

const refusalOf = {
  empty: "INIT_DATA_INVALID",
  "too-long": "INIT_DATA_INVALID",
  malformed: "INIT_DATA_INVALID",
  "duplicate-key": "INIT_DATA_INVALID",
  "missing-hash": "INIT_DATA_INVALID",
  "missing-signature": "INIT_DATA_INVALID",
  "wrong-signature": "INIT_DATA_INVALID",
  "other-servers": "INIT_DATA_INVALID",
  stale: "INIT_DATA_EXPIRED",
  future: "INIT_DATA_INVALID",
  "no-user": "INIT_DATA_WITHOUT_USER",
} as const satisfies Record<InitDataRefusal, OpenSessionRefusal>;

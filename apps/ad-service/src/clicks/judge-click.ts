import { crc32 } from "node:zlib";
import type { Bot } from "@intermission/operator-api/bots";
import type { Visitor } from "@intermission/server/visitor";
import type { Charge } from "../campaigns/event-worth.ts";
import { earnedOnDay, limitOfViewer, type UnfinishedViews, type ViewerEarnings } from "../viewers/limit-of-viewer.ts";
import type { ClickSuspicion, ClickVerdict, LeadingVerdict, TapReason } from "./click-verdict.ts";
import { judgeCrowd, type PlaceOfClick } from "./judge-crowd.ts";
import { type NetworkOfVisit, type NetworkUsers, usersOfMinute } from "./network-users.ts";
import type { JudgedVisit } from "./visit.ts";

/** A visit as it is judged, with what its node knows without the database. */
export interface Click {
  readonly visit: JudgedVisit;
  /** The ad that was chosen for it. */
  readonly campaignId: string | undefined;
  /** So little of the ad's limit is left that the visit must be counted alone. */
  readonly isNearLimit: boolean;
  readonly network: NetworkOfVisit;
  /** Counted clicks of the bot's busiest day in the last week, today included. */
  readonly usualClicks: number;
}

/** What the database knows about a visit. Of a visit by a machine only its code is read. */
export interface ClickFacts extends ViewerEarnings, Charge {
  /** The code's; all null if it is unknown. */
  userId: string | null;
  reference: string | null;
  issuedAt: Date | null;
  expiresAt: Date | null;
  bot: BotOfClick;
  /** The chosen campaign's, like the price. */
  userCap: number | null;
  /** How often the user saw the campaign in the cap's time, as far as that matters; null without a cap. */
  seenAds: number | null;
  /** The visit's address on this day. */
  address: AddressFacts;
  /** Times of its counted clicks on the day before, newest first. */
  addressClicksBefore: readonly Date[];
  /** The users of the visit's network, as far as they are stored. */
  network: NetworkUsers;
  /** The version of the viewer's row; 0 without a row. */
  decisions: number;
  unfinished: UnfinishedViews;
  /** The code has earned its click, or one was withheld. */
  isUsed: boolean;
  usedCampaignId: string | null;
}

interface AddressFacts {
  /** Times of counted clicks, newest first; and bot and user of each. */
  clicks: readonly Date[];
  viewers: readonly string[];
  counted: number;
  tapped: number;
  /** Pairs of user agent and user, newest first. */
  devices: readonly string[];
}

type BotOfClick = Pick<Bot, "isSuspended" | "cooldownSeconds" | "dailyCap" | "suspiciousClicks"> & {
  /** The code's user is one of the bot's testers: free of charge, and counted towards no limit of others. */
  isTester: boolean;
};

export interface ClickSettings {
  /** Limit of counted clicks of one address on one day (UTC); undefined: unlimited. */
  maxDailyClicksPerAddress?: number | undefined;
}

/** Decides what becomes of a visit. The order of the rules is the order in which a visitor learns about them. */
export function judgeClick(
  facts: ClickFacts,
  click: Click,
  { maxDailyClicksPerAddress = Number.POSITIVE_INFINITY }: ClickSettings,
  now: Date,
): ClickVerdict {
  const { visit, campaignId, isNearLimit } = click;
  const { visitor, tap } = visit;
  const { bot, userId, expiresAt } = facts;
  if (userId === null || expiresAt === null) return { outcome: "unknown-code" };
  if (visitor.kind === "machine") return { outcome: "machine", reason: visitor.reason };
  if (facts.isUsed) return { outcome: "used", campaignId: facts.usedCampaignId };
  if (expiresAt <= now) return { outcome: "expired" };
  if (bot.isSuspended) return { outcome: "bot-suspended" };
  const limit = limitOfViewer(facts, facts.unfinished, bot, now);
  if (limit.outcome === "limited") return limit;
  if (campaignId === undefined) return { outcome: "no-ad" };
  if (facts.userCap !== null && (facts.seenAds ?? 0) >= facts.userCap) return { outcome: "user-cap", userId };
  if (facts.address.counted >= maxDailyClicksPerAddress) return { outcome: "address-limit" };
  const doubt = doubtOf(visitor);
  if (tap === undefined && doubt !== undefined) return { outcome: "tap-needed", reason: doubt };
  if (tap === undefined && isOverAddressLimits(facts, now)) return { outcome: "tap-needed", reason: "address" };
  if (isNearLimit && !bot.isTester) return { outcome: "near-limit" };
  if (bot.isTester) return { outcome: "counted", suspicions: [], isTest: true };
  const crowd = judgeCrowd(placeOf(facts, visit, now), click.usualClicks);
  const suspicions = [...suspicionsOf(facts, visit, now), ...crowd.suspicions];
  const look = crowd.isFarm ? "farm" : suspicions.length > 0 ? "odd" : undefined;
  const outcome = look === undefined ? "counted" : outcomeBySetting[bot.suspiciousClicks][look];
  return { outcome, suspicions, isTest: false };
}

/** Why a visitor is asked for a tap; undefined for a person. */
function doubtOf(visitor: Exclude<Visitor, { kind: "machine" }>): TapReason | undefined {
  switch (visitor.kind) {
    case "person":
      return undefined;
    case "doubtful":
      return visitor.reason;
    default:
      return visitor satisfies never;
  }
}

/** Many people share one address, so above these limits a tap is asked for, and nothing is refused. */
const addressLimits = [
  { clicks: 1, seconds: 60 },
  { clicks: 3, seconds: 600 },
  { clicks: 10, seconds: 3600 },
  { clicks: 25, seconds: 86_400 },
] as const;
function isOverAddressLimits({ address, addressClicksBefore }: ClickFacts, now: Date): boolean {
  const latestFirst = [...address.clicks, ...addressClicksBefore];
  return addressLimits.some(({ clicks, seconds }) => {
    const at = latestFirst[clicks - 1];
    return at !== undefined && at.getTime() > now.getTime() - seconds * 1000;
  });
}

/** What a bot's setting does with a click farm's click, and with one that only looks odd. */
const outcomeBySetting = {
  pay: { farm: "counted", odd: "counted" },
  "hold-farms": { farm: "held", odd: "counted" },
  hold: { farm: "held", odd: "held" },
  refuse: { farm: "suspicious", odd: "suspicious" },
} as const satisfies Record<Bot["suspiciousClicks"], Record<"farm" | "odd", LeadingVerdict["outcome"]>>;

const MAX_USERS_OF_ONE_AGENT = 5;

function suspicionsOf(facts: ClickFacts, visit: JudgedVisit, now: Date): ClickSuspicion[] {
  const { issuedAt, address } = facts;
  const tapped = address.tapped + (visit.tap === undefined ? 0 : 1);
  const isMostlyTaps = tapped >= 10 && tapped * 5 >= (address.counted + 1) * 4;
  const suspicions: ClickSuspicion[] = [];
  if (visit.tap?.suspicion !== undefined) suspicions.push(visit.tap.suspicion);
  // Of the latest hundred devices of the address.
  const usersOfAgent = usersOfKey(address.devices, () => deviceOf(visit, facts.userId));
  if (usersOfAgent > MAX_USERS_OF_ONE_AGENT) suspicions.push("many-users-of-one-agent");
  if (isMostlyTaps) suspicions.push("mostly-taps");
  if (issuedAt !== null && now.getTime() - issuedAt.getTime() < 1000) suspicions.push("right-after-issue");
  return suspicions;
}

export const MAX_AGENT_LENGTH = 256;

/** Whether a counted visit adds a user to its network. */
export function isFirstOfDay(facts: ClickFacts, now: Date): boolean {
  return earnedOnDay(facts, now) === 0;
}

function placeOf(facts: ClickFacts, visit: JudgedVisit, now: Date): PlaceOfClick {
  const { address, network, userId } = facts;
  const added = isFirstOfDay(facts, now) ? 1 : 0;
  const recent = address.viewers.filter((_, index) => now.getTime() - (address.clicks[index]?.getTime() ?? 0) < 60_000);
  return {
    addressMinuteUsers: usersOfKey(recent, () => viewerOf(visit, userId)),
    networkMinuteUsers: usersOfMinute(network, now) + added,
    networkDayUsers: network.users + added,
  };
}

/** How many distinct users the key of the visit's pair has, its own included. Most first clicks are their address's first. */
function usersOfKey(pairs: readonly string[], ofVisit: () => string): number {
  if (pairs.length === 0) return 1;
  const pair = ofVisit();
  const key = BigInt(pair) >> 32n;
  return new Set(pairs.filter((one) => BigInt(one) >> 32n === key)).add(pair).size;
}

/** The pairs of an address can be compared for one day only: its hash changes daily, and the seed with it. */
const seedOf = ({ hashes }: JudgedVisit) => Number.parseInt(hashes.today.slice(0, 8), 16);

/** Per bot: one person may use several bots. */
function agentKeyOf(visit: JudgedVisit): number {
  const agent = visit.userAgent.slice(0, MAX_AGENT_LENGTH);
  return crc32(`${visit.request.bot.botId} ${agent}`, seedOf(visit)) | 0;
}

/** What an address stores of a visitor's agent and user. */
export const deviceOf = (visit: JudgedVisit, userId: string | null) => pairOf(agentKeyOf(visit), userId);
/** The same of its bot and user. */
export const viewerOf = (visit: JudgedVisit, userId: string | null) =>
  pairOf(crc32(visit.request.bot.botId, seedOf(visit)) | 0, userId);

/** A `bigint` of SQL: 32 bits of a key, 32 of a hash of the user. */
function pairOf(key: number, userId: string | null): string {
  return String((BigInt(key) << 32n) | BigInt(crc32(userId ?? "", key >>> 0)));
}

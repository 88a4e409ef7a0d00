import type { Phrases } from "./phrases.ts";

/** What the bot says: text, and below it at most one ad with its fallback, or a few suggestions to tap. */
export interface Reply {
  readonly text: string;
  readonly ad?: {
    readonly label: string;
    readonly miniappUrl: string;
    readonly linkLabel: string;
    readonly directLink: string;
  };
  readonly suggestions?: readonly string[];
}

/** What the bot asks of its publisher's backend. */
export interface Rewards {
  createAd(
    userId: string,
  ): Promise<{ outcome: "created"; miniappUrl: string; directLink: string } | { outcome: "unavailable" }>;
  balance(userId: string): Promise<number>;
  /** The same key never spends twice. */
  spend(
    userId: string,
    amount: number,
    key: string,
  ): Promise<{ outcome: "spent" | "insufficient"; balance: number } | { outcome: "conflict" }>;
  /** When this user was last paid for an ad. */
  lastRewardAt(userId: string): Promise<Date | undefined>;
}

export interface IncomingMessage {
  readonly userId: string;
  readonly text: string;
  /** Unique: a message that is delivered twice is answered, but buys once. */
  readonly messageId: string;
  readonly phrases: Phrases;
  readonly now: Date;
}

export const seedPrice = 25;
const commands = ["/bonus", "/balance", "/buy"];

/** The whole bot: one message in, its replies out. Knows neither Telegram nor HTTP. */
export async function answerMessage(
  message: IncomingMessage,
  rewards: Rewards,
  cooldownSeconds: number,
): Promise<Reply> {
  const { phrases, userId } = message;
  switch (message.text.trim().toLowerCase().split(/\s/, 1)[0]) {
    case "/start":
      return { text: phrases.welcome(seedPrice), suggestions: commands };
    case "/bonus":
      return offerAd(message, rewards, cooldownSeconds);
    case "/balance":
      return { text: phrases.balance(await rewards.balance(userId)), suggestions: ["/bonus", "/buy"] };
    case "/buy":
      return buySeeds(message, rewards);
    default:
      return { text: phrases.unknown, suggestions: commands };
  }
}

async function offerAd(
  { phrases, userId, now }: IncomingMessage,
  rewards: Rewards,
  cooldownSeconds: number,
): Promise<Reply> {
  const last = await rewards.lastRewardAt(userId);
  const waitSeconds = last ? Math.ceil(cooldownSeconds - (now.getTime() - last.getTime()) / 1000) : 0;
  if (waitSeconds > 0) return { text: phrases.tooSoon(waitSeconds), suggestions: ["/balance"] };
  const ad = await rewards.createAd(userId);
  if (ad.outcome === "unavailable") return { text: phrases.unavailable, suggestions: ["/bonus"] };
  return {
    text: phrases.offer,
    ad: { label: phrases.watch, miniappUrl: ad.miniappUrl, linkLabel: phrases.useLink, directLink: ad.directLink },
  };
}

async function buySeeds({ phrases, userId, messageId }: IncomingMessage, rewards: Rewards): Promise<Reply> {
  const bought = await rewards.spend(userId, seedPrice, messageId);
  if (bought.outcome === "conflict") throw new Error(`message ${messageId} was spent on something else`);
  if (bought.outcome === "insufficient")
    return { text: phrases.tooPoor(seedPrice, bought.balance), suggestions: ["/bonus"] };
  return { text: phrases.bought(bought.balance), suggestions: ["/bonus", "/balance"] };
}

export interface BookedReward {
  readonly amount: number;
  readonly event: "rewarded" | "direct_link" | null;
  readonly reason: string | null;
  readonly balance: number | null;
}

/** What the bot says by itself when the ledger has a new entry, if it is worth a word. */
export function announceReward(entry: BookedReward, phrases: Phrases): Reply | undefined {
  if (entry.event === null) return undefined;
  if (entry.amount > 0) {
    return {
      text: phrases.rewarded(entry.amount, entry.balance ?? entry.amount, entry.event),
      suggestions: ["/balance", "/buy", "/bonus"],
    };
  }
  return { text: entry.reason === "daily-cap" ? phrases.dailyCap : phrases.notPaid, suggestions: ["/bonus"] };
}

import type { IncomingMessage, Reply, Suggestion } from "./chat-port.ts";
import type { Phrases } from "./phrases.ts";
import type { RewardsPort } from "./rewards-port.ts";

export const SEED_PRICE = 25;

interface Situation {
  readonly message: IncomingMessage;
  readonly language: string;
  readonly phrases: Phrases;
  readonly rewards: RewardsPort;
  readonly cooldownSeconds: number;
  readonly now: Date;
}

const answers = {
  "/start": greet,
  "/bonus": offerAd,
  "/tasks": offerTasks,
  "/balance": tellBalance,
  "/buy": sellSeeds,
} satisfies Record<string, (situation: Situation) => Promise<Reply>>;

type Command = keyof typeof answers;

/** The command that a message starts with. In groups Telegram writes `/bonus@some_bot`. */
export function commandOf(text: string): Command | undefined {
  const word = /^\s*(\/[a-z]+)(@\w+)?(\s|$)/i.exec(text)?.[1]?.toLowerCase();
  return word !== undefined && isCommand(word) ? word : undefined;
}

function isCommand(word: string): word is Command {
  return Object.hasOwn(answers, word);
}

export function suggest(phrases: Phrases, ...commands: Exclude<Command, "/start">[]): Suggestion[] {
  return commands.map((command) => ({ command, label: phrases.commands[command] }));
}

/** Returns the reply to a message. Throws only when the publisher's backend fails. */
export async function answerMessage(situation: Situation): Promise<Reply> {
  const command = commandOf(situation.message.text);
  if (command) return answers[command](situation);
  const { phrases } = situation;
  return { text: phrases.unknown, suggestions: suggest(phrases, "/bonus", "/tasks", "/balance", "/buy") };
}

async function greet({ phrases }: Situation): Promise<Reply> {
  return {
    text: phrases.welcome(SEED_PRICE),
    picture: "garden",
    suggestions: suggest(phrases, "/bonus", "/tasks", "/balance", "/buy"),
  };
}

async function offerAd({ message, phrases, rewards, cooldownSeconds, now }: Situation): Promise<Reply> {
  const { userId } = message;
  // The ledger knows when the last ad was paid, even after a restart of the bot; an in-memory timer would not.
  const since = new Date(now.getTime() - cooldownSeconds * 1000);
  const lastPaidAt = cooldownSeconds > 0 ? await rewards.lastPaidAt(userId, since) : undefined;
  const waitSeconds = lastPaidAt ? Math.ceil((lastPaidAt.getTime() - since.getTime()) / 1000) : 0;
  if (waitSeconds > 0)
    return { text: phrases.tooSoon(waitSeconds), suggestions: suggest(phrases, "/bonus", "/balance") };
  const ad = await rewards.createAd(userId);
  if (ad.outcome === "unavailable") {
    return { text: phrases.noAdNow(ad.retryAfterSeconds), suggestions: suggest(phrases, "/bonus") };
  }
  const { miniappUrl, directLink } = ad;
  return {
    text: phrases.offer,
    ad: { label: phrases.watch, miniappUrl, linkLabel: phrases.useLink, directLink },
  };
}

async function offerTasks({ message, language, phrases, rewards }: Situation): Promise<Reply> {
  const tasks = await rewards.tasks(message.userId, language);
  if (tasks.length === 0) return { text: phrases.noTask, suggestions: suggest(phrases, "/bonus", "/balance") };
  const days = Math.max(...tasks.map(({ holdDays }) => holdDays));
  return { text: phrases.tasks(days), buttons: tasks.map(({ title, url }) => ({ label: title, url })) };
}

async function tellBalance({ message, phrases, rewards }: Situation): Promise<Reply> {
  const balance = await rewards.balance(message.userId);
  return { text: phrases.balance(balance), suggestions: suggest(phrases, "/bonus", "/buy") };
}

async function sellSeeds({ message, phrases, rewards }: Situation): Promise<Reply> {
  const sale = await rewards.spend(message.userId, SEED_PRICE, message.id);
  if (sale.outcome === "conflict") throw new Error(`message ${message.id} was already used for another purchase`);
  if (sale.outcome === "insufficient") {
    return { text: phrases.tooPoor(SEED_PRICE, sale.balance), suggestions: suggest(phrases, "/bonus") };
  }
  return {
    text: phrases.bought(sale.balance),
    picture: "seeds",
    suggestions: suggest(phrases, "/bonus", "/balance", "/buy"),
  };
}

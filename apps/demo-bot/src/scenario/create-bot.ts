import { announceEntry } from "./announce-entry.ts";
import { answerMessage, commandOf, suggest } from "./answer-message.ts";
import type { ChatPort, IncomingMessage, Reply } from "./chat-port.ts";
import type { Phrases } from "./phrases.ts";
import { english } from "./phrases-en.ts";
import { russian } from "./phrases-ru.ts";
import type { RecordedEntry, RewardsPort } from "./rewards-port.ts";

interface BotOptions {
  readonly chat: ChatPort;
  readonly rewards: RewardsPort;
  /** Cooldown between two ads of a user. Must match the ad service's cooldown, or the ad service refuses the bot's offers. */
  readonly cooldownSeconds: number;
  readonly now: () => Date;
  /** Receives the error; the user gets a friendly message. */
  readonly onTrouble: (error: unknown) => void;
}

export interface Bot {
  /** Answers a message. Rejects only when the messenger fails. */
  hear(message: IncomingMessage): Promise<void>;
  /** Announces a new ledger entry to the user. An entry that is passed twice is announced once. */
  tell(entry: RecordedEntry): Promise<void>;
}

/** The whole bot. It depends only on its two ports, not on a messenger library or HTTP. */
export function createBot({ chat, rewards, cooldownSeconds, now, onTrouble }: BotOptions): Bot {
  async function replyTo(message: IncomingMessage): Promise<Reply> {
    const language = chat.languageOf(message.userId);
    const phrases = choosePhrases(language);
    try {
      return await answerMessage({ message, language, phrases, rewards, cooldownSeconds, now: now() });
    } catch (error) {
      onTrouble(error);
      // An unanswered purchase may have been recorded, and another /buy would be another purchase.
      return commandOf(message.text) === "/buy"
        ? { text: phrases.purchaseUnclear, suggestions: suggest(phrases, "/balance") }
        : { text: phrases.failed, suggestions: suggest(phrases, "/bonus", "/balance") };
    }
  }

  return {
    async hear(message) {
      await chat.send(message.userId, await replyTo(message), `answer-${message.id}`);
    },
    async tell(entry) {
      const reply = announceEntry(entry, choosePhrases(chat.languageOf(entry.userId)));
      if (reply) await chat.send(entry.userId, reply, `entry-${entry.entryId}`);
    },
  };
}

/** Phrases for an IETF tag such as `ru-RU`; English for unsupported languages. */
export function choosePhrases(language: string): Phrases {
  return /^ru\b/i.test(language) ? russian : english;
}

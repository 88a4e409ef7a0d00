import { announceEntry } from "./announce-entry.ts";
import { answerMessage, commandOf, suggest } from "./answer-message.ts";
import type { ChatPort, IncomingMessage, Reply } from "./chat-port.ts";
import { choosePhrases } from "./choose-phrases.ts";
import type { RecordedEntry, RewardsPort } from "./rewards-port.ts";

export interface BotOptions {
  readonly chat: ChatPort;
  readonly rewards: RewardsPort;
  /** Between two ads of a user; as long as the ad service's own, or it refuses what the bot offers. */
  readonly cooldownSeconds: number;
  readonly now: () => Date;
  /** The user hears a kind word, and this the reason. */
  readonly onTrouble: (error: unknown) => void;
}

export interface Bot {
  /** Answers a message. Rejects only when the messenger fails. */
  hear(message: IncomingMessage): Promise<void>;
  /** Tells the user of a new line in the ledger. A line that comes twice is told once. */
  tell(entry: RecordedEntry): Promise<void>;
}

/** The whole bot. It knows no messenger's library and no HTTP: only its two ports. */
export function createBot({ chat, rewards, cooldownSeconds, now, onTrouble }: BotOptions): Bot {
  async function replyTo(message: IncomingMessage): Promise<Reply> {
    const phrases = choosePhrases(chat.languageOf(message.userId));
    try {
      return await answerMessage({ message, phrases, rewards, cooldownSeconds, now: now() });
    } catch (error) {
      onTrouble(error);
      // Whether an unanswered purchase was recorded is unknown, and asking anew would be another purchase.
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

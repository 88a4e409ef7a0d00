import { randomUUID } from "node:crypto";
import type { Reply } from "../scenario/scenario.ts";

export interface ChatMessage extends Reply {
  readonly id: string;
  readonly from: "bot" | "user";
  readonly at: string;
}

const longestHistory = 200;
const mostConversations = 2000;

interface Conversation {
  language: string;
  readonly messages: ChatMessage[];
  readonly listeners: Set<(message: ChatMessage) => void>;
}

/** The simulated chats, one a user, in memory: the newest messages, and the browsers that look at them. */
export class Conversations {
  readonly #conversations = new Map<string, Conversation>();

  #of(userId: string): Conversation {
    const known = this.#conversations.get(userId);
    if (known) return known;
    for (const [oldest, { listeners }] of this.#conversations) {
      if (this.#conversations.size < mostConversations) break;
      if (listeners.size === 0) this.#conversations.delete(oldest);
    }
    const fresh: Conversation = { language: "en", messages: [], listeners: new Set() };
    this.#conversations.set(userId, fresh);
    return fresh;
  }

  languageOf(userId: string): string {
    return this.#of(userId).language;
  }

  setLanguage(userId: string, language: string): void {
    this.#of(userId).language = language;
  }

  history(userId: string): readonly ChatMessage[] {
    return this.#of(userId).messages;
  }

  /** With an id of its own, a message that was said before is not said again. */
  say(userId: string, from: "bot" | "user", reply: Reply, now: Date, id: string = randomUUID()): ChatMessage {
    const conversation = this.#of(userId);
    const said = conversation.messages.find((message) => message.id === id);
    if (said) return said;
    const message: ChatMessage = { ...reply, id, from, at: now.toISOString() };
    conversation.messages.push(message);
    if (conversation.messages.length > longestHistory) conversation.messages.shift();
    for (const listener of conversation.listeners) listener(message);
    return message;
  }

  listen(userId: string, listener: (message: ChatMessage) => void): () => void {
    const { listeners } = this.#of(userId);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }
}

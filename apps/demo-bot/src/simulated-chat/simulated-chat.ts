import type { ChatPort, IncomingMessage, Reply } from "../scenario/chat-port.ts";

export interface ChatMessage extends Reply {
  readonly id: string;
  readonly from: "bot" | "user";
  readonly at: string;
}

interface Conversation {
  language: string;
  readonly messages: ChatMessage[];
  readonly listeners: Set<(message: ChatMessage) => void>;
}

const MAX_HISTORY_LENGTH = 200;
const MAX_CONVERSATIONS = 2000;

/** An in-memory stand-in for Telegram: one conversation per user, its newest messages and the connected browsers. */
export class SimulatedChat implements ChatPort {
  readonly #conversations = new Map<string, Conversation>();
  readonly #now: () => Date;

  constructor(now: () => Date) {
    this.#now = now;
  }

  /** Stores the message. Returns whether its id is new; known ids are ignored. */
  receive({ userId, id, text }: IncomingMessage): boolean {
    return this.#say(userId, { id, from: "user", at: this.#now().toISOString(), text });
  }

  async send(userId: string, reply: Reply, key: string): Promise<void> {
    this.#say(userId, { ...reply, id: key, from: "bot", at: this.#now().toISOString() });
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

  /** Returns a function that removes the listener. */
  listen(userId: string, listener: (message: ChatMessage) => void): () => void {
    const { listeners } = this.#of(userId);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  #say(userId: string, message: ChatMessage): boolean {
    const { messages, listeners } = this.#of(userId);
    if (messages.some(({ id }) => id === message.id)) return false;
    messages.push(message);
    if (messages.length > MAX_HISTORY_LENGTH) messages.shift();
    for (const listener of listeners) listener(message);
    return true;
  }

  #of(userId: string): Conversation {
    const known = this.#conversations.get(userId);
    if (known) return known;
    for (const [oldest, { listeners }] of this.#conversations) {
      if (this.#conversations.size < MAX_CONVERSATIONS) break;
      if (listeners.size === 0) this.#conversations.delete(oldest);
    }
    const fresh: Conversation = { language: "en", messages: [], listeners: new Set() };
    this.#conversations.set(userId, fresh);
    return fresh;
  }
}

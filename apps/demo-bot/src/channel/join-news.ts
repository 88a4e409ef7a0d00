import type { Reply } from "../scenario/chat-port.ts";
import type { SimulatedChat } from "../simulated-chat/simulated-chat.ts";
import { joinWords } from "./join-words.ts";
import type { JoinAnswer, PrivateChannel } from "./private-channel.ts";

/** What the user's Telegram shows of a request to join: in this demo, in the bot's chat. */
export class JoinNews {
  readonly #chat: SimulatedChat;
  readonly #channel: PrivateChannel;
  #last = 0;

  constructor(chat: SimulatedChat, channel: PrivateChannel) {
    this.#chat = chat;
    this.#channel = channel;
  }

  /** Telegram opens the mini-app before the request is decided. */
  open(userId: string, opens: NonNullable<Reply["opens"]>): Promise<void> {
    return this.#say(userId, "shown", opens);
  }

  tell({ userId, state }: JoinAnswer): Promise<void> {
    return this.#say(userId, state);
  }

  /** No program took the request. */
  unanswered(userId: string): Promise<void> {
    return this.#say(userId, "unanswered");
  }

  #say(userId: string, word: keyof ReturnType<typeof joinWords>, opens?: Reply["opens"]): Promise<void> {
    const text = joinWords(this.#chat.languageOf(userId))[word](this.#channel.chat.title);
    return this.#chat.send(userId, { text, ...(opens && { opens }) }, `join-${++this.#last}`);
  }
}

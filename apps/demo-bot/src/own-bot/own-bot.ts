import { type Ads, AdsError } from "@intermission/publisher";
import { BoundedCache } from "@intermission/server/bounded-cache";
import { JoinNews } from "../channel/join-news.ts";
import { PrivateChannel } from "../channel/private-channel.ts";
import type { ButtonPress, IncomingMessage, Reply } from "../scenario/chat-port.ts";
import type { SimulatedChat } from "../simulated-chat/simulated-chat.ts";
import { Updates } from "./updates.ts";

interface BotMessage {
  readonly message_id: number;
  readonly chat: { readonly id: number };
  readonly text: string;
}

const MAX_REMEMBERED = 2000;

export function userChat(userId: string) {
  return { id: Number(userId), first_name: "Robin", type: "private" };
}

export interface OwnBotOptions {
  readonly chat: SimulatedChat;
  readonly ads: Pick<Ads, "createCode">;
  readonly botId: string;
  readonly botName: string;
  /** The token with which the bot's program uses this chat in place of Telegram. */
  readonly botToken: string;
  readonly miniappOrigin: string;
  readonly now: () => Date;
  /** How long a message waits for a program that restarts; 5 s by default. */
  readonly restartMs?: number;
}

/** A bot whose program runs elsewhere: by polling this chat's Bot API, or not at all. Then the chat offers the bot's ads. */
export class OwnBot {
  readonly updates: Updates;
  readonly options: OwnBotOptions;
  /** The bot is its administrator, and processes the requests to join it. */
  readonly channel: PrivateChannel;
  readonly joinNews: JoinNews;
  #lastMessageId = 0;
  /** By user: whose buttons are below the conversation. */
  readonly #latest = new BoundedCache<string, BotMessage>(MAX_REMEMBERED);

  constructor(options: OwnBotOptions) {
    this.options = options;
    this.updates = new Updates(options.now, options.restartMs ?? 5000);
    this.channel = new PrivateChannel(options.now);
    this.joinNews = new JoinNews(options.chat, this.channel);
  }

  get user() {
    const { botId, botName } = this.options;
    return { id: Number(botId), is_bot: true, first_name: botName, username: "simulated_bot" };
  }

  person(userId: string) {
    const language_code = this.options.chat.languageOf(userId).split("-", 1)[0];
    return { id: Number(userId), is_bot: false, first_name: "Robin", language_code };
  }

  /** The fields that all messages have, in Telegram's order. */
  newMessage<From extends { readonly id: number }>(userId: string, from: From) {
    const date = Math.floor(this.options.now().getTime() / 1000);
    return { message_id: ++this.#lastMessageId, from, chat: userChat(userId), date };
  }

  /** The latest message of the bot to a user: a tapped button comes with it. */
  remember(message: BotMessage): void {
    this.#latest.set(String(message.chat.id), message);
  }

  /** Passes the message to the bot's program, or answers it in its place. */
  async hear(message: IncomingMessage): Promise<void> {
    const { userId, text } = message;
    const command = /^\/\w+/.exec(text)?.[0];
    const entities = command && [{ offset: 0, length: command.length, type: "bot_command" }];
    const update = { ...this.newMessage(userId, this.person(userId)), text, ...(entities && { entities }) };
    if (await this.updates.offer({ message: update })) return;
    await this.options.chat.send(userId, await this.#standIn(message), `answer-${message.id}`);
  }

  async press({ userId, id, data }: ButtonPress): Promise<void> {
    const message = this.#latest.get(userId) ?? { ...this.newMessage(userId, this.user), text: "" };
    await this.updates.offer({
      callback_query: { id, from: this.person(userId), message, chat_instance: userId, data },
    });
  }

  /** The user requests to join the channel; without the bot's program, its administrators decide. */
  async askToJoin(userId: string): Promise<void> {
    if (this.channel.stateOf(userId) === "member") return this.joinNews.tell({ userId, state: "member" });
    const request = this.channel.ask(this.person(userId));
    if (!(await this.updates.offer({ chat_join_request: request }))) await this.joinNews.unanswered(userId);
  }

  async #standIn({ userId, text }: IncomingMessage): Promise<Reply> {
    const suggestions = [{ label: "/bonus", command: "/bonus" }];
    if (!/^\/bonus\b/i.test(text)) {
      const variables = `BOT_API_URL to this page's address and TELEGRAM_BOT_TOKEN to ${this.options.botToken}`;
      return {
        text: `The program of your bot is not connected, so this chat stands in for it: /bonus offers an ad of your bot. To talk to your own program here, start it with ${variables}.`,
        suggestions,
      };
    }
    try {
      const { miniappUrl, directLink } = await this.options.ads.createCode({ userId });
      const buttons = [
        ...(miniappUrl === undefined ? [] : [{ label: "Watch an ad", miniappUrl }]),
        ...(directLink === undefined ? [] : [{ label: "Direct link", url: directLink }]),
      ];
      return { text: "An ad of your bot, with a new code:", buttons, suggestions };
    } catch (error) {
      if (!(error instanceof AdsError)) throw error;
      return { text: `The ad service gave no code: ${error.message} (${error.code}).`, suggestions };
    }
  }
}

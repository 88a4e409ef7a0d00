import { joinChat, joinReference } from "@intermission/ad-core/join-reference";
import { type Ads, AdsError } from "@intermission/publisher";
import type { RecordedEntry } from "../scenario/rewards-port.ts";
import type { SimulatedChat } from "../simulated-chat/simulated-chat.ts";
import { JoinNews } from "./join-news.ts";
import { PrivateChannel } from "./private-channel.ts";

interface ChannelOptions {
  readonly chat: SimulatedChat;
  readonly ads: Pick<Ads, "availability" | "createCode">;
  readonly now: () => Date;
  readonly onCode: (userId: string, code: string, times: { at: string; ms: number }) => void;
}

/** Coin Garden's private channel. A program of one's own has `joinRequests` for this, which remembers the requests. */
export class CoinGardenChannel {
  readonly channel: PrivateChannel;
  readonly #options: ChannelOptions;
  readonly #news: JoinNews;

  constructor(options: ChannelOptions) {
    this.#options = options;
    this.channel = new PrivateChannel(options.now);
    this.#news = new JoinNews(options.chat, this.channel);
  }

  /** The user requests to join: Telegram opens the mini-app, or the administrators decide if there is no ad now. */
  async askToJoin(userId: string): Promise<void> {
    if (this.channel.stateOf(userId) === "member") return this.#news.tell({ userId, state: "member" });
    const { query_id: queryId = "" } = this.channel.ask({ id: Number(userId) });
    const url = await this.#findAd(userId);
    if (url === undefined) return this.#news.tell(this.channel.answer(queryId, "queue"));
    this.channel.show(queryId);
    await this.#news.open(userId, { miniappUrl: url, joinQueryId: queryId });
  }

  /** Lets the user of a ledger's entry in, if it is that of a request to join. */
  async approve({ userId, reference }: RecordedEntry): Promise<void> {
    const queryId = this.channel.shownQueryOf(userId);
    if (queryId === undefined || joinChat(reference ?? "") !== String(this.channel.chat.id)) return;
    await this.#news.tell(this.channel.answer(queryId, "approve"));
  }

  async #findAd(userId: string): Promise<string | undefined> {
    const { ads, now, onCode } = this.#options;
    const { id, title } = this.channel.chat;
    const startedAt = now();
    try {
      if (!(await ads.availability(userId)).isAvailable) return undefined;
      const request = { userId, reference: joinReference(String(id)), join: { title } };
      const { code, miniappUrl } = await ads.createCode(request);
      onCode(userId, code, { at: startedAt.toISOString(), ms: now().getTime() - startedAt.getTime() });
      return miniappUrl;
    } catch (error) {
      if (!(error instanceof AdsError)) throw error;
      return undefined;
    }
  }
}

import { randomBytes } from "node:crypto";
import { BoundedCache } from "@intermission/server/bounded-cache";
import { BotApiRefusal } from "../channel/bot-api-refusal.ts";

/** A link by which members join, as `createChatInviteLink` makes it. */
export interface InviteLink {
  readonly invite_link: string;
  readonly name: string;
  readonly expire_date: number;
  readonly member_limit: number | undefined;
  uses: number;
  is_revoked: boolean;
}

interface Update {
  readonly update_id: number;
  readonly chat_member: object;
}

const MAX_LINKS = 2000;
const MAX_MEMBERS = 5000;
const MAX_UPDATES = 1000;

/**
 * An advertiser's channel in the simulated Telegram: its members, its invite links, and what its administrator, the task bot, is
 * told of them (`chat_member`). Everybody may join it by its name, too.
 */
export class TaskChannel {
  readonly chat = { id: -1_001_000_000_002, type: "channel", title: "Flower News", username: "flower_news" } as const;
  readonly #links = new BoundedCache<string, InviteLink>(MAX_LINKS);
  readonly #members = new BoundedCache<string, boolean>(MAX_MEMBERS);
  readonly #now: () => Date;
  #updates: Update[] = [];
  #lastUpdateId: number;
  #wake: () => void = () => {};

  constructor(now: () => Date) {
    this.#now = now;
    // Numbers grow over restarts, as Telegram's do: the reader ignores those before its place.
    this.#lastUpdateId = now().getTime();
  }

  isMember(userId: string): boolean {
    return this.#members.get(userId) === true;
  }

  /** `url`: from the link's hash, which is its name on this server. */
  addLink(
    limits: Pick<InviteLink, "name" | "expire_date" | "member_limit">,
    urlOf: (hash: string) => string,
  ): InviteLink {
    const hash = randomBytes(12).toString("hex");
    const link = { invite_link: urlOf(hash), ...limits, uses: 0, is_revoked: false };
    this.#links.set(hash, link);
    return link;
  }

  findLink(hash: string): InviteLink | undefined {
    return this.#links.get(hash);
  }

  isUsable({ is_revoked, expire_date, member_limit, uses }: InviteLink): boolean {
    return (
      !is_revoked && expire_date * 1000 > this.#now().getTime() && uses < (member_limit ?? Number.POSITIVE_INFINITY)
    );
  }

  /** By the link if Telegram lets the user in by it, else by the channel's name. A member stays one. */
  join(userId: string, link: InviteLink | undefined): void {
    if (this.isMember(userId)) return;
    const used = link !== undefined && this.isUsable(link) ? link : undefined;
    if (used) used.uses += 1;
    this.#change(userId, true, used);
  }

  leave(userId: string): void {
    if (this.isMember(userId)) this.#change(userId, false, undefined);
  }

  /** Forgets the updates before `offset`, and returns the others, waiting for one. */
  async poll(
    { offset, limit, timeoutMs }: { offset: number; limit: number; timeoutMs: number },
    signal: AbortSignal,
  ): Promise<readonly Update[]> {
    this.#updates = this.#updates.filter(({ update_id }) => update_id >= offset);
    if (this.#updates.length === 0 && timeoutMs > 0 && !signal.aborted) await this.#next(timeoutMs, signal);
    return signal.aborted ? [] : this.#updates.slice(0, limit);
  }

  memberOf(userId: string, isMember = this.isMember(userId)) {
    return { status: isMember ? "member" : "left", user: personOf(userId) };
  }

  #change(userId: string, isMember: boolean, link: InviteLink | undefined): void {
    const old_chat_member = this.memberOf(userId);
    this.#members.set(userId, isMember);
    const chat_member = {
      chat: this.chat,
      from: personOf(userId),
      date: Math.floor(this.#now().getTime() / 1000),
      old_chat_member,
      new_chat_member: this.memberOf(userId),
      ...(link && { invite_link: link }),
    };
    // Telegram, too, keeps updates only for a while.
    this.#updates = [...this.#updates.slice(1 - MAX_UPDATES), { update_id: ++this.#lastUpdateId, chat_member }];
    this.#wake();
  }

  #next(timeoutMs: number, signal: AbortSignal): Promise<void> {
    // A second poll ends the first, as Telegram does.
    this.#wake();
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", end);
        if (this.#wake === end) this.#wake = () => {};
        resolve();
      };
      const timer = setTimeout(end, timeoutMs);
      signal.addEventListener("abort", end);
      this.#wake = end;
    });
  }
}

const personOf = (userId: string) => ({ id: Number(userId), is_bot: false, first_name: "Robin" });

/** Throws as Telegram refuses, unless the chat is this one. */
export function requireChat(channel: TaskChannel, chatId: string): void {
  if (chatId !== String(channel.chat.id) && chatId !== `@${channel.chat.username}`)
    throw new BotApiRefusal("chat not found");
}

import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

/** A refusal as Telegram answers it. */
export class TelegramRefusal extends Error {
  readonly status: number;
  readonly retryAfterSeconds: number | undefined;
  readonly movedTo: number | undefined;

  constructor(status: number, description: string, retryAfterSeconds?: number, movedTo?: number) {
    super(description);
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
    this.movedTo = movedTo;
  }
}

interface Link {
  readonly invite_link: string;
  readonly name: string;
  readonly expire_date: number;
  readonly member_limit: number | undefined;
  readonly creates_join_request: boolean;
  uses: number;
  is_revoked: boolean;
}

type Status = "left" | "member" | "administrator" | "kicked" | "restricted";
type Fields = Readonly<Record<string, unknown>>;

const refuse = (description: string): never => {
  throw new TelegramRefusal(400, `Bad Request: ${description}`);
};

/**
 * A channel of a stand-in for Telegram, with one bot that may be its administrator: members, invite links, and the updates that
 * these cause, as the Bot API documents them. `now` is in seconds.
 */
export class FakeChannel {
  readonly chat = { id: -1001234567890, type: "channel", title: "Secret Garden" };
  /** Other channels, which send the bot no updates; it is an administrator of all or none. */
  readonly otherChats: { id: number; type: string; title: string }[] = [];
  readonly links: Link[] = [];
  readonly updates: (object & { update_id: number })[] = [];
  readonly calls: { method: string; fields: Fields }[] = [];
  /** Users whom Telegram does not know for the bot. */
  readonly unmet = new Set<string>();
  maxLinks = 1000;
  /** The webhook that Telegram calls; undefined: polling. */
  webhook: { url: string; secretToken: string } | undefined;
  /** Also calls http addresses, as a local Bot API server does. */
  isLocal = false;
  private readonly members = new Map<string, Status>();
  private readonly requests = new Map<string, Link>();
  private readonly failures = new Map<string, TelegramRefusal[]>();
  private readonly movedFrom = new Set<number>();
  private isAdmin = true;
  private updateId = 0;
  private readonly botId: string;
  private readonly now: () => number;

  constructor(botId: string, now: () => number) {
    this.botId = botId;
    this.now = now;
  }

  /** The next calls of a method are refused, each once. */
  failNext(method: string, ...refusals: readonly TelegramRefusal[]): void {
    this.failures.set(method, [...(this.failures.get(method) ?? []), ...refusals]);
  }

  /** A user joins, by a link if one is named. Returns whether Telegram lets the user in. */
  join(userId: string, inviteLink?: string): boolean {
    const link = inviteLink === undefined ? undefined : this.links.find((one) => one.invite_link === inviteLink);
    if (inviteLink !== undefined && !this.isUsable(link)) return false;
    if (link?.creates_join_request) {
      this.requests.set(userId, link);
      this.give({
        chat_join_request: {
          chat: this.chat,
          from: person(userId),
          user_chat_id: Number(userId),
          date: this.now(),
          invite_link: link,
        },
      });
      return false;
    }
    this.enter(userId, link);
    return true;
  }

  leave(userId: string): void {
    this.change(userId, "left", undefined);
  }

  /** An administrator removes the user. */
  remove(userId: string): void {
    this.change(userId, "kicked", undefined, ADMINISTRATOR);
  }

  /** The group becomes a supergroup: calls with its earlier id are refused, and name the new one. */
  migrate(id: number): void {
    this.movedFrom.add(this.chat.id);
    this.chat.id = id;
  }

  /** The user is a member, and the bot is not told: it was added later, or updates were lost. */
  addSilently(userId: string, status: Status = "member"): void {
    this.members.set(userId, status);
  }

  setAdmin(isAdmin: boolean): void {
    this.isAdmin = isAdmin;
    const [before, after] = isAdmin ? ["left", "administrator"] : ["administrator", "left"];
    const user = { id: Number(this.botId), is_bot: true, first_name: "Tasks" };
    const member = (status: string | undefined) => ({ status, user, can_invite_users: status === "administrator" });
    const change = { chat: { ...this.chat }, from: user, date: this.now() };
    this.give({ my_chat_member: { ...change, old_chat_member: member(before), new_chat_member: member(after) } });
  }

  /** Delivers an update once more, or updates in another order: under new numbers, as Telegram numbers what it sends. */
  giveAgain(...updates: readonly object[]): void {
    for (const { update_id: _, ...update } of updates as readonly { update_id?: number }[]) this.give(update);
  }

  /** Telegram loses the latest update, as after a day without a reader. */
  lose(): (object & { update_id: number }) | undefined {
    return this.updates.pop();
  }

  call(method: string, fields: Fields): unknown {
    this.calls.push({ method, fields });
    const [failure, ...later] = this.failures.get(method) ?? [];
    this.failures.set(method, later);
    if (failure !== undefined) throw failure;
    const upgraded = "Bad Request: group chat was upgraded to a supergroup chat";
    if (this.movedFrom.has(Number(fields.chat_id))) throw new TelegramRefusal(400, upgraded, undefined, this.chat.id);
    const run = this.methods[method];
    if (run === undefined) throw new TelegramRefusal(404, "Not Found");
    return run(fields);
  }

  readonly methods: Readonly<Record<string, (fields: Fields) => unknown>> = {
    getMe: () => ({ id: Number(this.botId), is_bot: true, first_name: "Tasks", username: "example_tasks_bot" }),
    setWebhook: ({ url, secret_token }) => {
      if (!this.isLocal && !String(url).startsWith("https://"))
        refuse("bad webhook: An HTTPS URL must be provided for webhook");
      this.webhook = { url: String(url), secretToken: String(secret_token) };
      return true;
    },
    deleteWebhook: () => {
      this.webhook = undefined;
      return true;
    },
    getWebhookInfo: () => ({ url: this.webhook?.url ?? "", pending_update_count: this.updates.length }),
    getChat: ({ chat_id }) =>
      [this.chat, ...this.otherChats].find(({ id }) => String(chat_id) === String(id)) ?? refuse("chat not found"),
    getUpdates: ({ offset = 0 }) => {
      if (this.webhook)
        throw new TelegramRefusal(
          409,
          "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook",
        );
      const place = Number(offset);
      // Updates before the offset are confirmed, and gone.
      this.updates.splice(0, this.updates.findLastIndex(({ update_id }) => update_id < place) + 1);
      return [...this.updates];
    },
    getChatMember: ({ user_id }) => {
      const userId = String(user_id);
      if (userId === this.botId) {
        const status = this.isAdmin ? "administrator" : "left";
        return { status, can_invite_users: this.isAdmin, user: person(userId) };
      }
      if (!this.isAdmin) refuse("member list is inaccessible");
      if (this.unmet.has(userId) && !this.members.has(userId)) refuse("user not found");
      return memberOf(userId, this.members.get(userId) ?? "left");
    },
    createChatInviteLink: ({ name, expire_date, member_limit, creates_join_request = false }) => {
      if (!this.isAdmin) refuse("not enough rights to manage chat invite link");
      if (member_limit !== undefined && creates_join_request) refuse("member limit can't be specified");
      if (String(name).length > 32) refuse("invite link name is too long");
      if (this.links.filter((link) => !link.is_revoked).length >= this.maxLinks) refuse("INVITES_TOO_MUCH");
      const link: Link = {
        invite_link: `https://t.me/+link${this.links.length + 1}`,
        name: String(name),
        expire_date: Number(expire_date),
        member_limit: member_limit === undefined ? undefined : Number(member_limit),
        creates_join_request: creates_join_request === true,
        uses: 0,
        is_revoked: false,
      };
      this.links.push(link);
      return link;
    },
    revokeChatInviteLink: ({ invite_link }) => {
      const link = this.links.find((one) => one.invite_link === invite_link) ?? refuse("INVITE_HASH_EXPIRED");
      link.is_revoked = true;
      return link;
    },
    approveChatJoinRequest: ({ user_id }) => {
      const link = this.requests.get(String(user_id)) ?? refuse("HIDE_REQUESTER_MISSING");
      this.requests.delete(String(user_id));
      this.enter(String(user_id), link);
      return true;
    },
  };

  private isUsable(link: Link | undefined): link is Link {
    if (link === undefined || link.is_revoked || link.expire_date <= this.now()) return false;
    return link.member_limit === undefined || link.uses < link.member_limit;
  }

  private enter(userId: string, link: Link | undefined): void {
    if (this.members.get(userId) === "member") return;
    if (link) link.uses += 1;
    this.change(userId, "member", link);
  }

  private change(userId: string, status: Status, link: Link | undefined, by = userId): void {
    const before = memberOf(userId, this.members.get(userId) ?? "left");
    this.members.set(userId, status);
    // A bot that is no administrator is told nothing of others.
    if (!this.isAdmin) return;
    const change = { chat: { ...this.chat }, from: person(by), date: this.now(), old_chat_member: before };
    this.give({
      chat_member: { ...change, new_chat_member: memberOf(userId, status), ...(link && { invite_link: link }) },
    });
  }

  private give(update: object): void {
    this.updateId += 1;
    this.updates.push({ ...update, update_id: this.updateId });
  }
}

const ADMINISTRATOR = "7700000001";
const person = (userId: string) => ({ id: Number(userId), is_bot: false, first_name: "Ada" });
const memberOf = (userId: string, status: Status) => ({ status, user: person(userId) });

/** The channel's Bot API over HTTP, for a bot with this token. */
export async function startFakeBotApi(channel: FakeChannel, token: string) {
  const server = createServer(async (request, response) => {
    const [, used, method = ""] = /^\/bot([^/]+)\/(\w+)$/.exec(request.url ?? "") ?? [];
    const answer = used === token ? answerOf(channel, method, await fieldsOf(request)) : unauthorized;
    response.writeHead(answer.error_code ?? 200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop: () => stop(server) };
}

const unauthorized = { ok: false, error_code: 401, description: "Unauthorized" };

const fieldsOf = (request: IncomingMessage) => json(request) as Promise<Fields>;

function answerOf(channel: FakeChannel, method: string, fields: Fields) {
  try {
    return { ok: true, result: channel.call(method, fields), error_code: undefined };
  } catch (error) {
    if (!(error instanceof TelegramRefusal)) throw error;
    const { status, message: description, retryAfterSeconds: retry_after, movedTo: migrate_to_chat_id } = error;
    // Fields that are undefined are left out of JSON.
    return { ok: false, error_code: status, description, parameters: { retry_after, migrate_to_chat_id } };
  }
}

function stop(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

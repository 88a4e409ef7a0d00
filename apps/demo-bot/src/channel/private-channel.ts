import { BotApiRefusal } from "./bot-api-refusal.ts";

/** `shown`: the mini-app is open. `queued`: the administrators decide. */
export type JoinState = "requested" | "shown" | "queued" | "member" | "declined";

interface JoinRequest {
  state: JoinState;
  /** Of the query that the bot has not answered; null: there is none. */
  queryId: string | null;
  readonly requestedAt: Date;
}

export interface JoinAnswer {
  readonly userId: string;
  readonly state: JoinState;
}

const MAX_REQUESTS = 2000;
/** Telegram waits so long for the first answer to a query. */
const ANSWER_WITHIN_MS = 10_000;

/** A private channel that is joined by request, and whose requests the bot is assigned to process (Bot API 10.1). */
export class PrivateChannel {
  readonly chat = { id: -1_001_000_000_001, title: "Secret Garden", type: "channel" } as const;
  readonly #requests = new Map<string, JoinRequest>();
  readonly #now: () => Date;
  #lastQuery = 0;

  constructor(now: () => Date) {
    this.#now = now;
  }

  stateOf(userId: string): JoinState | undefined {
    return this.#requests.get(userId)?.state;
  }

  /** Of a user's request, while its mini-app is open. */
  shownQueryOf(userId: string): string | undefined {
    const request = this.#requests.get(userId);
    return request?.state === "shown" ? (request.queryId ?? undefined) : undefined;
  }

  /**
   * A user requests to join: the `chat_join_request` of the update. Without `hasQuery` it is that of a channel whose administrators
   * have not assigned the bot.
   */
  ask<From extends { readonly id: number }>(from: From, { hasQuery = true } = {}) {
    const userId = String(from.id);
    const requestedAt = this.#now();
    const queryId = hasQuery ? `join${++this.#lastQuery}` : null;
    this.#requests.delete(userId);
    this.#requests.set(userId, { state: hasQuery ? "requested" : "queued", queryId, requestedAt });
    const [oldest] = this.#requests.keys();
    if (this.#requests.size > MAX_REQUESTS && oldest !== undefined) this.#requests.delete(oldest);
    const date = Math.floor(requestedAt.getTime() / 1000);
    return { chat: this.chat, from, user_chat_id: from.id, date, ...(queryId !== null && { query_id: queryId }) };
  }

  /** The bot shows the mini-app before it decides. Returns for whom. */
  show(queryId: string): string {
    const [userId, request] = this.#open(queryId);
    if (request.state === "shown") throw tooOld;
    request.state = "shown";
    return userId;
  }

  answer(queryId: string, result: "approve" | "decline" | "queue"): JoinAnswer {
    const [userId, request] = this.#open(queryId);
    request.state = states[result];
    request.queryId = null;
    return { userId, state: request.state };
  }

  /** By an administrator's right, without a query. */
  decide(chatId: number, userId: string, result: "approve" | "decline"): JoinAnswer {
    if (chatId !== this.chat.id) throw new BotApiRefusal("chat not found");
    const request = this.#requests.get(userId);
    if (request?.state === "member" && result === "approve") throw new BotApiRefusal("USER_ALREADY_PARTICIPANT");
    if (!request || request.state === "member" || request.state === "declined")
      throw new BotApiRefusal("HIDE_REQUESTER_MISSING");
    request.state = states[result];
    request.queryId = null;
    return { userId, state: request.state };
  }

  #open(queryId: string): readonly [userId: string, request: JoinRequest] {
    const found = [...this.#requests].find(([, request]) => request.queryId === queryId);
    if (!found) throw tooOld;
    const [, { state, requestedAt }] = found;
    if (state === "requested" && this.#now().getTime() - requestedAt.getTime() > ANSWER_WITHIN_MS) throw tooOld;
    return found;
  }
}

const states = { approve: "member", decline: "declined", queue: "queued" } as const;
const tooOld = new BotApiRefusal("query is too old and response timeout expired or query ID is invalid");

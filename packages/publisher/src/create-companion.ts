import { className, RequestError } from "./ads-error.ts";
import { apiKeyOf, requireOptions, serverAddress, wholeNumberOf } from "./client-settings.ts";
import { foreignAnswer, pauseAfter, unansweredMessage, waitOf } from "./failed-call.ts";
import { pause } from "./pause.ts";
import { readBody } from "./read-body.ts";
import { personIdOf, type UserId } from "./read-user-id.ts";
import { refusedUserId } from "./refused-user-id.ts";
import { readEvents } from "./server-sent-events.ts";

export interface CompanionOptions {
  /** Address of the companion API: `https://api.example.com`. `/trpc` at its end is left out. */
  readonly url: string | undefined;
  /** The API's BACKEND_API_KEY. */
  readonly apiKey: string | undefined;
  /** Limit of each attempt of a call; 10 s by default. */
  readonly timeoutMs?: number | undefined;
  /** Further attempts after 429, 502, 503, 504, Cloudflare's 52x and 530, and lost connections; 2 by default. */
  readonly retries?: number | undefined;
  readonly fetch?: typeof fetch | undefined;
}

export type CreateCodeOutcome =
  | {
      outcome: "created";
      code: string;
      expiresInSeconds: number;
      expiresAt: string;
      /** For a `web_app` button of an inline keyboard. */
      miniappUrl: string;
      /** For a plain link into Telegram; null if the API does not know the bot's username and its mini-app's name. */
      startappLink: string | null;
      directLink: string;
    }
  | {
      outcome: "unavailable";
      reason: "rate-limited" | "ad-service-down" | "timeout" | "refused" | "unexpected-answer";
      retryAfterSeconds?: number;
    };

/** One entry of the ledger. */
export interface RewardEntry {
  entryId: string;
  userId: string;
  /** The event that earned it; null for a spend. */
  event: "rewarded" | "direct_link" | "task" | "task_reversed" | null;
  code: string | null;
  reference: string | null;
  /** The `startapp` value of the link that opened the mini-app. Whoever made the link chose it: the user may have. */
  startParam: string | null;
  eventId: string | null;
  /** Whole units: negative for a spend and for `task_reversed`, 0 for an event that paid nothing. */
  amount: number;
  /** Why an event paid nothing, or the note of a spend. */
  reason: string | null;
  /** The user's balance after this entry. Below zero if a task was taken back whose units were spent. */
  balance: number | null;
  recordedAt: string;
}

export interface RewardPage {
  /** Newest first. */
  entries: RewardEntry[];
  /** Pass it as `cursor` for the next page; null at the end. */
  next: string | null;
}

export type SpendOutcome =
  | { outcome: "spent"; balance: number; entryId: string }
  | { outcome: "insufficient"; balance: number }
  /** This user used the key for another amount. */
  | { outcome: "conflict" };

interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface Companion {
  /** Requests the user's code, with its links. A repeat returns the open code. */
  createCode(
    request: { readonly userId: UserId; readonly reference?: string | undefined },
    options?: CallOptions,
  ): Promise<CreateCodeOutcome>;
  balance(userId: UserId, options?: CallOptions): Promise<number>;
  /** Takes units from a user. The key makes a repeat safe: it returns the answer of the first call. */
  spend(
    order: {
      readonly userId: UserId;
      readonly amount: number;
      readonly idempotencyKey: string;
      readonly note?: string | undefined;
    },
    options?: CallOptions,
  ): Promise<SpendOutcome>;
  listRewards(
    query?: {
      readonly userId?: UserId | undefined;
      readonly cursor?: string | undefined;
      readonly limit?: number | undefined;
    },
    options?: CallOptions,
  ): Promise<RewardPage>;
  /**
   * Each entry of the ledger in commit order: after `after`, else from the start, then live. Ends or rejects when the
   * connection does; `followRewards` reconnects.
   */
  watchRewards(
    query?: { readonly after?: string | undefined; readonly includeTests?: boolean | undefined },
    options?: CallOptions,
  ): AsyncIterable<{ readonly cursor: string; readonly entry: RewardEntry }>;
}

/** The companion API refused, is busy or cannot be reached. */
export class CompanionError extends RequestError {
  static readonly [className]: string = "CompanionError";
  readonly [className]: string = "CompanionError";
  override readonly name = "CompanionError";
  /**
   * tRPC's code, such as `UNAUTHORIZED`; `UNREACHABLE` without an answer. Not sent: `NOT_A_PERSON`, a user id that stands
   * for many people, and `BAD_REQUEST`, a value that is no user id.
   */
  declare readonly code: string;
}

/** A page of 100 entries has about 50 kB. */
const MAX_ANSWER_BYTES = 1024 * 1024;

/**
 * Throws a TypeError, which names the option and the usual variable, if an option cannot be right. Every method rejects
 * with {@link CompanionError}, or with the reason of an aborted signal.
 */
export function createCompanion(options: CompanionOptions): Companion {
  requireOptions(options, "createCompanion({ url, apiKey })");
  const { read, write, watch } = callsOf(options);
  return {
    async createCode(request, { signal } = {}) {
      const input = { ...request, userId: requireUserId(request.userId) };
      return (await write("codes.create", input, signal)) as CreateCodeOutcome;
    },
    async balance(userId, { signal } = {}) {
      const input = { userId: requireUserId(userId) };
      return ((await read("rewards.balance", input, signal)) as { balance: number }).balance;
    },
    async spend(order, { signal } = {}) {
      const input = { ...order, userId: requireUserId(order.userId) };
      return (await write("rewards.spend", input, signal)) as SpendOutcome;
    },
    async listRewards({ userId, ...query } = {}, { signal } = {}) {
      const input = { ...query, ...(userId !== undefined && { userId: requireUserId(userId) }) };
      return (await read("rewards.list", input, signal)) as RewardPage;
    },
    async *watchRewards({ after, includeTests = false } = {}, { signal } = {}) {
      const input = after === undefined ? { from: "start", includeTests } : { lastEventId: after, includeTests };
      for await (const { cursor, item } of watch("rewards.watch", input, signal)) {
        yield { cursor, entry: item as RewardEntry };
      }
    },
  };
}

/** Calls procedures: `read` and `write` again where that can help, `watch` once. */
function callsOf(options: CompanionOptions) {
  const { fetch: send = fetch } = options;
  const retries = wholeNumberOf(options.retries, { option: "retries", min: 0 }) ?? 2;
  const timeoutMs =
    wholeNumberOf(options.timeoutMs, { option: "timeoutMs", min: 1, unit: " of milliseconds" }) ?? 10_000;
  const server = "the companion API";
  const base = `${serverAddress(options.url, { option: "url", variable: "API_URL", server, path: "/trpc" })}/trpc/`;
  const authorization = `Bearer ${apiKeyOf(options.apiKey, { option: "apiKey", variable: "BACKEND_API_KEY" })}`;
  const unreachable = (cause: unknown) => {
    const message = unansweredMessage(cause, { address: base, server, timeoutMs });
    return new CompanionError(message, { code: "UNREACHABLE", cause });
  };

  function query(path: string, input: object): string {
    return `${base}${path}?input=${encodeURIComponent(JSON.stringify(input))}`;
  }

  async function attempt(request: () => [string, RequestInit], signal: AbortSignal | undefined): Promise<unknown> {
    const timeout = AbortSignal.timeout(timeoutMs);
    const [address, init] = request();
    try {
      const response = await send(address, {
        ...init,
        redirect: "manual",
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      });
      return await resultOf(response, base);
    } catch (error) {
      signal?.throwIfAborted();
      throw error instanceof CompanionError ? error : unreachable(error);
    }
  }

  /** All calls are repeatable: a code is returned again, and a purchase has its key. */
  async function call(request: () => [string, RequestInit], signal: AbortSignal | undefined): Promise<unknown> {
    for (let attempts = 1; ; attempts++) {
      try {
        return await attempt(request, signal);
      } catch (error) {
        if (!(error instanceof CompanionError)) throw error;
        const pauseMs = pauseAfter(error, { attempts, retries, isRepeatable: true });
        if (pauseMs === undefined) throw error;
        await pause(pauseMs, signal);
      }
    }
  }

  return {
    read: (path: string, input: object, signal: AbortSignal | undefined) =>
      call(() => [query(path, input), { headers: { authorization } }], signal),
    write(path: string, input: object, signal: AbortSignal | undefined) {
      const headers = { authorization, "content-type": "application/json" };
      return call(() => [base + path, { method: "POST", headers, body: JSON.stringify(input) }], signal);
    },
    async *watch(path: string, input: object, signal: AbortSignal | undefined) {
      const abort = new AbortController();
      const either = signal ? AbortSignal.any([signal, abort.signal]) : abort.signal;
      // Until the stream begins; `readEvents` limits the silence in it.
      const timer = setTimeout(() => abort.abort(), timeoutMs);
      try {
        const headers = { authorization, accept: "text/event-stream" };
        const response = await send(query(path, input), { headers, redirect: "manual", signal: either });
        clearTimeout(timer);
        const isPage = response.headers.get("content-type")?.startsWith("text/html");
        if (!response.ok || isPage) await resultOf(response, base);
        for await (const { event, id, data } of readEvents(response.body)) {
          if (event === "serialized-error") throw errorOf(JSON.parse(data));
          if (event === "return") return;
          if (event === "message" && id !== "") yield { cursor: id, item: JSON.parse(data) as unknown };
        }
      } catch (error) {
        signal?.throwIfAborted();
        throw error instanceof CompanionError ? error : unreachable(error);
      } finally {
        clearTimeout(timer);
        abort.abort();
      }
    },
  };
}

function requireUserId(value: UserId): string {
  const userId = personIdOf(value);
  if (userId !== undefined) return userId;
  const { code, message } = refusedUserId(value);
  throw new CompanionError(message, { code });
}

async function resultOf(response: Response, address: string): Promise<unknown> {
  const bytes = await readBody(response.body, MAX_ANSWER_BYTES);
  let answer: { result?: { data?: unknown }; error?: unknown } | null = null;
  try {
    answer = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    // Answered by something else, such as a proxy.
  }
  if (response.ok && answer?.result !== undefined) return answer.result.data;
  throw errorOf(answer?.error, response, address);
}

/** Of an event of the stream, which has no response, or of an answer that is not a success. */
function errorOf(error: unknown, response?: Response, address = ""): CompanionError {
  const own = ownErrorOf(error);
  const foreign = response ? foreignAnswer(response, address, "the companion API") : "the stream failed";
  return new CompanionError(own?.message ?? foreign, {
    status: response?.status ?? own?.status,
    retryAfterSeconds: response && waitOf(response),
    code: own?.code ?? "UNEXPECTED_ANSWER",
  });
}

/** tRPC's error, which is `{ message, data: { code, httpStatus } }`, or the API's, which is `{ code, message }`. */
function ownErrorOf(error: unknown): { message: string; code: string; status: number | undefined } | undefined {
  const { message, code, data } = (error ?? {}) as {
    message?: unknown;
    code?: unknown;
    data?: { code?: string; httpStatus?: number };
  };
  const own = data?.code ?? code;
  return typeof message === "string" && typeof own === "string"
    ? { message, code: own, status: data?.httpStatus }
    : undefined;
}

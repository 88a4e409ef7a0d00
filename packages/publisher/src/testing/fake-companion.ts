import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import type { RewardEntry } from "../create-companion.ts";
import { readBody } from "../read-body.ts";
import { cursorOf, FakeLedger, type FakeRewards, type RefusalCode, Refused } from "./fake-ledger.ts";

export interface FakeCompanionOptions {
  /** `"7000000001"` by default. */
  readonly botId?: string | undefined;
  /** The key of the bot's backend. */
  readonly apiKey?: string | undefined;
  /** Whole units; 10 for a view, 3 for a followed link and 5 for a task by default. A code pays once, for the event that comes first. */
  readonly rewards?: { readonly [Event in keyof FakeRewards]?: number | undefined } | undefined;
  readonly now?: (() => Date) | undefined;
}

export type FakeCredit =
  | { readonly outcome: "recorded"; readonly entry: RewardEntry }
  | { readonly outcome: "unknown-code" | "already-earned" };

export interface FakeCompanion {
  /** Pass it as `url` to `createCompanion`. */
  readonly url: string;
  readonly apiKey: string;
  readonly botId: string;
  /** Answers requests without a network; pass it as `fetch` to `createCompanion`. */
  readonly fetch: typeof fetch;
  /** The ledger, oldest entry first. */
  readonly entries: readonly RewardEntry[];
  /** Also listens on 127.0.0.1, and returns the address. */
  listen(port?: number): Promise<string>;
  /** The user of this code watches the ad and closes it, or follows the direct link. */
  earn(
    code: string,
    event?: "rewarded" | "direct_link",
    launch?: { readonly startParam?: string | undefined },
  ): FakeCredit;
  /**
   * The user joins the channel of a task's code, or (`task_reversed`) leaves it too early; in any order, each once. Undefined for
   * a repeat.
   */
  earnTask(
    event: "task" | "task_reversed",
    of: { readonly userId: string; readonly code: string },
  ): RewardEntry | undefined;
  /** A test of the webhook arrives: an entry that pays nothing, and that a watch has only with `includeTests`. */
  sendTest(): RewardEntry;
  /** Refuses the next request, with `Retry-After` if it has one. `code` is tRPC's, such as `TOO_MANY_REQUESTS`. */
  refuseNext(refusal: {
    readonly status: number;
    readonly code: string;
    readonly retryAfterSeconds?: number | undefined;
  }): void;
  /** Ends all watches, and listens no more. */
  close(): Promise<void>;
}

/** A procedure's input comes from the caller, unchecked. */
type Input = Readonly<Record<string, unknown>>;
interface Procedure {
  readonly method: "GET" | "POST";
  readonly answer: (ledger: FakeLedger, input: Input) => object;
}

const procedures: Readonly<Record<string, Procedure>> = {
  "codes.create": { method: "POST", answer: (ledger, input) => ledger.createCode(input) },
  "rewards.status": { method: "GET", answer: (ledger, input) => ledger.status(input) },
  "rewards.list": { method: "GET", answer: (ledger, input) => ledger.list(input) },
  "rewards.balance": { method: "GET", answer: (ledger, input) => ledger.balance(input) },
  "rewards.spend": { method: "POST", answer: (ledger, input) => ledger.spend(input) },
  "rewards.cursor": { method: "GET", answer: ({ entries }) => ({ cursor: cursorOf(entries.length) }) },
};

const MAX_BODY_BYTES = 1024 * 1024;

/** tRPC's number and the HTTP status of each code. */
const errorNumbers = {
  BAD_REQUEST: [-32600, 400],
  UNAUTHORIZED: [-32001, 401],
  NOT_FOUND: [-32004, 404],
  METHOD_NOT_SUPPORTED: [-32005, 405],
} satisfies Record<RefusalCode, readonly [number, number]>;

/**
 * A companion API in memory with one bot: codes, the ledger of rewards, spends and `rewards.watch`, over tRPC's wire as
 * `createCompanion` and tRPC's own clients speak it. It has what a bot's backend calls, and no receipts, sign-ins or erasures.
 */
export function fakeCompanion(options: FakeCompanionOptions = {}): FakeCompanion {
  const { botId = "7000000001", apiKey = "test_key_of_the_bots_backend", now = () => new Date() } = options;
  const { rewarded = 10, direct_link = 3, task = 5 } = options.rewards ?? {};
  const ledger = new FakeLedger({ rewards: { rewarded, direct_link, task }, now, botId });
  const refusals: { status: number; body: object; headers: Record<string, string> }[] = [];
  const closing = new AbortController();
  const served: Served = { ledger, apiKey, closing: closing.signal };
  let url = "http://companion.test";

  async function handle(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const refusal = refusals.shift();
    if (refusal) return Response.json(refusal.body, { status: refusal.status, headers: refusal.headers });
    const names = /^\/trpc\/(.+)$/.exec(pathname)?.[1]?.split(",") ?? [];
    const isBatch = searchParams.get("batch") === "1";
    if (names[0] === "rewards.watch" && !isBatch) return watch(served, request, searchParams);
    const input = await inputOf(request, searchParams);
    const answers = (isBatch ? names : [names.join(",")]).map((path, index) =>
      call(served, { path, request, input: isBatch && input instanceof Object ? (input as Input)[index] : input }),
    );
    const statuses = new Set(answers.map(({ status }) => status));
    const [first] = answers;
    if (!isBatch && first) return Response.json(first.body, { status: first.status });
    return Response.json(
      answers.map(({ body }) => body),
      { status: statuses.size === 1 ? (first?.status ?? 200) : 207 },
    );
  }

  const server = createServer((incoming, outgoing) => void serve(handle, incoming, outgoing));
  return {
    get url() {
      return url;
    },
    apiKey,
    botId,
    entries: ledger.entries,
    fetch: (input, init) => handle(new Request(input, init)),
    async listen(port = 0) {
      await new Promise<void>((resolve, reject) => {
        server.once("error", reject);
        server.listen(port, "127.0.0.1", resolve);
      });
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      return url;
    },
    earn(code, event = "rewarded", { startParam } = {}) {
      // A direct link opens no mini-app.
      const entry = ledger.earn(code, event, event === "rewarded" ? (startParam ?? null) : null);
      if (entry) return { outcome: "recorded", entry };
      return { outcome: ledger.entries.some((known) => known.code === code) ? "already-earned" : "unknown-code" };
    },
    earnTask: (event, { userId, code }) => ledger.earnTask(event, userId, code),
    sendTest: () => ledger.addTest(),
    refuseNext({ status, code, retryAfterSeconds }) {
      const body = { error: { message: "refused by refuseNext", code: -32603, data: { code, httpStatus: status } } };
      const headers: Record<string, string> =
        retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
      refusals.push({ status, body, headers });
    },
    async close() {
      closing.abort();
      server.closeAllConnections();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Served {
  readonly ledger: FakeLedger;
  readonly apiKey: string;
  readonly closing: AbortSignal;
}

function call(served: Served, { path, request, input }: { path: string; request: Request; input: unknown }) {
  try {
    const { method, answer } = procedures[path] ?? {};
    if (answer === undefined) throw new Refused("NOT_FOUND", `no procedure ${path}`);
    if (method !== request.method) throw new Refused("METHOD_NOT_SUPPORTED", `${path} takes ${method}`);
    return { status: 200, body: { result: { data: answer(served.ledger, checked(served, request, input)) } } };
  } catch (error) {
    const shape = errorShape(error, path);
    return { status: shape.data.httpStatus, body: { error: shape } };
  }
}

function checked({ apiKey }: Served, request: Request, input: unknown): Input {
  if (request.headers.get("authorization") !== `Bearer ${apiKey}`)
    throw new Refused("UNAUTHORIZED", "API key required");
  if (typeof input !== "object" || input === null || Array.isArray(input))
    throw new Refused("BAD_REQUEST", "input: is not an object in JSON");
  return input as Input;
}

/** A refusal of a watch, too, is an event of its stream, as tRPC has it. */
function watch(served: Served, request: Request, query: URLSearchParams): Response {
  const { ledger, closing } = served;
  const ended = AbortSignal.any([request.signal, closing]);
  async function* events(): AsyncGenerator<string> {
    yield "event: connected\ndata: {}\n\n";
    try {
      const input = checked(served, request, parsed(query.get("input") ?? "{}"));
      const { lastEventId, from = "now", includeTests = false } = input;
      const start = from === "start" ? 0 : ledger.entries.length;
      const after = lastEventId == null ? start : ledger.placeOf(lastEventId, "lastEventId");
      for await (const entry of ledger.watch(after, includeTests === true, ended))
        yield `data: ${JSON.stringify(entry)}\nid: ${cursorOf(Number(entry.entryId))}\n\n`;
    } catch (error) {
      yield `event: serialized-error\ndata: ${JSON.stringify(errorShape(error, "rewards.watch"))}\n\n`;
    }
  }
  const body = Readable.toWeb(Readable.from(events())) as unknown as ReadableStream<string>;
  const headers = { "content-type": "text/event-stream", "cache-control": "no-cache, no-transform" };
  return new Response(body.pipeThrough(new TextEncoderStream()), { headers });
}

async function inputOf(request: Request, query: URLSearchParams): Promise<unknown> {
  if (request.method !== "POST") return parsed(query.get("input") ?? "{}");
  return parsed(new TextDecoder().decode(await readBody(request.body, MAX_BODY_BYTES)));
}

/** Undefined if it is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function errorShape(error: unknown, path: string) {
  if (!(error instanceof Refused)) throw error;
  const [number, httpStatus] = errorNumbers[error.code];
  return { message: error.message, code: number, data: { code: error.code, httpStatus, path } };
}

/** Passes a stream on while it is read, which `toNodeHandler` does not. */
async function serve(
  handle: (request: Request) => Promise<Response>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  outgoing.once("close", () => gone.abort());
  try {
    const { method = "GET", url = "/" } = incoming;
    const headers = Object.entries(incoming.headers).map(([name, value]): [string, string] => [name, String(value)]);
    const body = method === "POST" ? { body: Readable.toWeb(incoming), duplex: "half" } : {};
    const init = { method, headers, signal: gone.signal, ...body } as RequestInit;
    const response = await handle(new Request(`http://companion.test${url}`, init));
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    for await (const chunk of response.body ?? []) outgoing.write(chunk);
    outgoing.end();
  } catch (error) {
    if (gone.signal.aborted) return;
    console.error("the fake companion API failed:", error);
    outgoing.destroy();
  }
}

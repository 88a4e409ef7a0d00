import type { Readable } from "node:stream";
import { Client } from "undici";
import { z } from "zod";
import { NotReachable, OperatorRefusal } from "./command-line.ts";
import { parseExactly } from "./exact-json.ts";

export interface OperatorCall {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Relative to `/operator/v1`. */
  path: string;
  query?: Record<string, string | undefined>;
  /** JSON, or the bytes of a file. */
  body?: object | Readable;
}

/** The operator's API, over HTTP or in this process. */
export interface OperatorClient {
  /** Returns the JSON of a success, or the text of a CSV file; throws `OperatorRefusal` for any other answer. */
  call(call: OperatorCall): Promise<unknown>;
  /** The text of a success as it arrives, of any length; throws `OperatorRefusal` for any other answer. */
  read(call: OperatorCall): Promise<AsyncIterable<string>>;
  close(): Promise<void>;
}

/** A video may be fetched, converted and given renditions before the server answers. */
const MAX_WAIT_MS = 15 * 60_000;

const fieldFaults = z.array(z.object({ field: z.string(), message: z.string() }));
const errorBody = z.object({
  error: z.object({ code: z.string(), message: z.string(), details: fieldFaults.optional().catch(undefined) }),
});

/** Connects to a running server at an address, or through the socket in its data folder. */
export function httpOperatorClient(
  target: { url: string; operatorToken: string } | { socketPath: string },
): OperatorClient {
  const isSocket = "socketPath" in target;
  const url = new URL(isSocket ? "http://control-socket" : target.url);
  const headersTimeout = MAX_WAIT_MS;
  const client = new Client(
    url.origin,
    isSocket ? { socketPath: target.socketPath, headersTimeout } : { headersTimeout },
  );
  const basePath = url.pathname.replace(/\/$/, "");
  const authorization = isSocket ? {} : { authorization: `Bearer ${target.operatorToken}` };
  const name = isSocket ? target.socketPath : target.url;
  const closed = (cause: Error) => new NotReachable(`${name} closed the connection: ${cause.message}`, { cause });
  const send = async (call: OperatorCall) => {
    const path = basePath + pathOf(call);
    const headers = { ...headersOf(call), ...authorization };
    const request = client.request({ method: call.method, path, headers, body: payloadOf(call) ?? null });
    return request.catch((cause) => {
      const upload = call.body !== undefined && isStream(call.body) && !isSocket ? cutUpload(cause) : "";
      throw new NotReachable(`${name} ${whyNot(cause)}${upload}`, { cause });
    });
  };
  const finish = async ({ statusCode, body, headers }: Awaited<ReturnType<typeof send>>) => {
    // The connection of a refused upload may close after the status, which is enough.
    const text = await body.text().catch((cause) => {
      if (statusCode >= 400) return "";
      throw closed(cause);
    });
    if (!isSocket && statusCode === 404 && isNoRoute(text))
      throw new NotReachable(
        `${name} has no such operator's API: its server was started without OPERATOR_TOKEN, is of another version than this command line, or has another address (as in PUBLIC_URL)`,
      );
    return answerOf(statusCode, text, headers["content-type"]);
  };
  return {
    call: async (call) => finish(await send(call)),
    async read(call) {
      const answer = await send(call);
      if (isText(answer.statusCode, answer.headers["content-type"])) return textFrom(answer.body, closed);
      await finish(answer);
      throw notFromService(answer.statusCode);
    },
    close: () => client.close(),
  };
}

/** Whether an answer is the text that `read` returns. An error page of a proxy is HTML. */
export function isText(status: number, type: string | number | string[] | undefined): boolean {
  return status === 200 && typeof type === "string" && type.startsWith("text/plain");
}

/** The text of a stream; `fault` makes the error of one that breaks off. */
export async function* textFrom(body: Readable, fault: (cause: Error) => Error): AsyncGenerator<string> {
  try {
    for await (const part of body.setEncoding("utf8")) yield part;
  } catch (error) {
    throw fault(error as Error);
  }
}

export function pathOf({ path, query = {} }: OperatorCall): string {
  const parameters = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const search = new URLSearchParams(parameters).toString();
  return `/operator/v1${path}${search === "" ? "" : `?${search}`}`;
}

export function headersOf({ body }: OperatorCall): Record<string, string> {
  if (body === undefined) return {};
  return { "content-type": isStream(body) ? "application/octet-stream" : "application/json" };
}

export function payloadOf({ body }: OperatorCall): string | Readable | undefined {
  return body === undefined || isStream(body) ? body : JSON.stringify(body);
}

/** `type` is the content type: an answer that is text, as CSV, is returned as it is. */
export function answerOf(status: number, text: string, type?: string | number | string[]): unknown {
  if (status === 200 && typeof type === "string" && type.startsWith("text/csv")) return text;
  let json: unknown;
  try {
    json = parseExactly(text);
  } catch {
    throw notFromService(status);
  }
  if (status >= 200 && status < 300) return json;
  const { data } = errorBody.safeParse(json);
  const { code = "UNKNOWN", message = `the server answered ${status}`, details = [] } = data?.error ?? {};
  throw new OperatorRefusal(status, code, message, details);
}

const raiseLimit = "raise its limit for request bodies to 101 MB (in nginx: client_max_body_size 101m;)";

/** An answer from something between the command line and the service, such as a proxy's error page. */
function notFromService(status: number): Error {
  if (status === 413) {
    const message = `a proxy in front of the ad service refused the file as too large (HTTP 413): ${raiseLimit}`;
    return new OperatorRefusal(status, "BODY_TOO_LARGE", message);
  }
  if (status === 502 || status === 503 || status === 504) {
    return new NotReachable(`a proxy answered ${status}: it does not reach the ad service behind it; is that running?`);
  }
  const message = `the answer is not the ad service's (HTTP ${status}); is the address right?`;
  return new OperatorRefusal(status, "NOT_JSON", message);
}

/** What the server says of a path without a route, and of this API while it has no token. */
function isNoRoute(text: string): boolean {
  return text.includes('"there is nothing at this path');
}

function whyNot(cause: unknown): string {
  if (!(cause instanceof Error)) return "does not answer";
  // OpenSSL's own words name its source files.
  if ("code" in cause && /^(EPROTO|ERR_SSL_)/.test(String(cause.code)))
    return "speaks no TLS, or another version of it: begin the address with http://, or name the port of the proxy";
  return `does not answer: ${cause.message}`;
}

/** A proxy may close the connection during an upload that is too large for it, before its answer is read. */
function cutUpload(cause: unknown): string {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  if (code !== "UND_ERR_SOCKET" && code !== "EPIPE" && code !== "ECONNRESET") return "";
  return `. If a proxy stands in front of it, the file may be too large for the proxy: ${raiseLimit}`;
}

function isStream(body: object): body is Readable {
  return "pipe" in body;
}

export interface CommandContext {
  /** Connects on the first call of a command. */
  call: OperatorClient["call"];
  /** Prints text for people, or with `--json` the server's own answer for programs. */
  print(answer: unknown, asText: () => string): void;
  read: OperatorClient["read"];
  /** Writes text as it comes, for people and programs alike. */
  copy(parts: AsyncIterable<string>): Promise<void>;
  /** Whether the caller is a program: it gets everything in one answer, without a prompt. */
  isJson(): boolean;
}

import type { Readable } from "node:stream";
import { Client } from "undici";
import { z } from "zod";

export interface OperatorCall {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below `/operator/v1`. */
  path: string;
  query?: Record<string, string | undefined>;
  /** JSON, or the bytes of a file. */
  body?: object | Readable;
}

/** The operator's API, wherever it is spoken. */
export interface OperatorClient {
  /** The JSON of a success; throws `OperatorRefusal` for an answer that is none. */
  call(call: OperatorCall): Promise<unknown>;
  close(): Promise<void>;
}

/** The server's own words. */
export class OperatorRefusal extends Error {
  override readonly name = "OperatorRefusal";
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** What keeps the command line from a server or a store, with the next step. */
export class NotReachable extends Error {
  override readonly name = "NotReachable";
}

/** A video may be fetched, mended and made lighter before the server answers. */
const LONGEST_WAIT_MS = 15 * 60_000;

const errorBody = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

/** Speaks to a running server at an address, or through the socket in its data folder. */
export function httpOperatorClient(
  target: { url: string; operatorToken: string } | { socketPath: string },
): OperatorClient {
  const isSocket = "socketPath" in target;
  const url = new URL(isSocket ? "http://control-socket" : target.url);
  const headersTimeout = LONGEST_WAIT_MS;
  const client = new Client(
    url.origin,
    isSocket ? { socketPath: target.socketPath, headersTimeout } : { headersTimeout },
  );
  const basePath = url.pathname.replace(/\/$/, "");
  const authorization = isSocket ? {} : { authorization: `Bearer ${target.operatorToken}` };
  return {
    async call(call) {
      const path = basePath + pathOf(call);
      const headers = { ...headersOf(call), ...authorization };
      const request = client.request({ method: call.method, path, headers, body: payloadOf(call) ?? null });
      const { statusCode, body } = await request.catch((cause) => {
        throw new NotReachable(`${isSocket ? target.socketPath : target.url} does not answer: ${cause.message}`, {
          cause,
        });
      });
      return answerOf(statusCode, await body.text());
    },
    close: () => client.close(),
  };
}

export function pathOf({ path, query = {} }: OperatorCall): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const search = new URLSearchParams(given).toString();
  return `/operator/v1${path}${search === "" ? "" : `?${search}`}`;
}

export function headersOf({ body }: OperatorCall): Record<string, string> {
  if (body === undefined) return {};
  return { "content-type": isStream(body) ? "application/octet-stream" : "application/json" };
}

export function payloadOf({ body }: OperatorCall): string | Readable | undefined {
  return body === undefined || isStream(body) ? body : JSON.stringify(body);
}

export function answerOf(status: number, text: string): unknown {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new OperatorRefusal(
      status,
      "NOT_JSON",
      `the answer is not the ad service's (HTTP ${status}); is the address right?`,
    );
  }
  if (status >= 200 && status < 300) return json;
  const { data } = errorBody.safeParse(json);
  throw new OperatorRefusal(
    status,
    data?.error.code ?? "UNKNOWN",
    data?.error.message ?? `the server answered ${status}`,
  );
}

function isStream(body: object): body is Readable {
  return "pipe" in body;
}

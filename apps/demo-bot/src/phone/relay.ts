import type { IncomingHttpHeaders } from "node:http";
import { pipeline } from "node:stream/promises";
import { HttpError } from "@intermission/server/http-server";
import type { FastifyReply, FastifyRequest } from "fastify";
import { atSpeedOf, type Phone } from "./phones.ts";

export const ANSWER_WITHIN_MS = 20_000;
/** The browser's headers that the ad service or the publisher's API reads. */
const passedOn =
  /^(accept(-language)?|authorization|content-type|if-none-match|range|save-data|downlink|ect|sec-ch-.*|user-agent)$/;
/** Those of an answer that the browser reads. Its length and coding are those of this server. */
const passedBack =
  /^(accept-ch|accept-ranges|cache-control|content-range|content-type|etag|permissions-policy|retry-after|x-request-id)$/;

export interface ServerCall {
  readonly headers?: Readonly<Record<string, string>>;
  /** By default the call ends after a time limit, and outlives the page: a report of a page that closes still counts. */
  readonly signal?: AbortSignal;
}

export async function callServer(
  request: FastifyRequest,
  url: string,
  { headers, signal }: ServerCall = {},
): Promise<Response> {
  const body = bodyOf(request);
  return fetch(url, {
    method: request.method,
    headers: { ...picked(request.headers), ...headers },
    ...(body && { body: Uint8Array.from(body) }),
    redirect: "manual",
    signal: signal ?? AbortSignal.timeout(ANSWER_WITHIN_MS),
  }).catch(unavailable);
}

export function unavailable(): never {
  throw new HttpError(503, "UNAVAILABLE", "the server behind the simulated phone does not answer");
}

function picked(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      typeof value === "string" && passedOn.test(name) ? [[name, value]] : [],
    ),
  );
}

type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** Sends the answer at the speed of the phone's network. */
export async function send(reply: FastifyReply, phone: Phone, response: Response, chunks: Chunks): Promise<void> {
  const { raw } = reply;
  const headers = Object.fromEntries([...response.headers].filter(([name]) => passedBack.test(name)));
  const own = reply.getHeaders();
  reply.hijack();
  raw.writeHead(response.status, { ...headers, ...(own as Record<string, string>) });
  // The network went, the server behind it ended early, or the browser did: what is missing stays missing.
  await pipeline(atSpeedOf(phone, chunks), raw).catch(() => {});
}

/** The addresses in a page or an answer that lead through the phone's network. */
export function throughPhone(text: string, phone: string, adServiceUrl: string, publisherApi?: string): string {
  const { pathname } = new URL(phone);
  return text
    .replace("<head>", `<head><meta name="ad-service" content="${pathname}" />`)
    .replace(/(src|href)="\/app\/assets\//g, `$1="${pathname}/app/assets/`)
    .replaceAll(`"${adServiceUrl}/media/`, `"${phone}/media/`)
    .replaceAll(
      `"publisher_api_url":${JSON.stringify(publisherApi ?? "")}`,
      `"publisher_api_url":"${phone}/publisher"`,
    );
}

export function bodyOf({ body }: FastifyRequest): Buffer | undefined {
  return Buffer.isBuffer(body) && body.length > 0 ? body : undefined;
}

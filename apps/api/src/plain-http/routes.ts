import { Readable } from "node:stream";
import { errorBody, HttpError } from "@intermission/server/http-server";
import { callTRPCProcedure, isTrackedEnvelope, TRPCError } from "@trpc/server";
import { getHTTPStatusCodeFromError } from "@trpc/server/http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { AppRouter } from "../router.ts";
import { type Context, inputFaults, sentenceOf } from "../trpc.ts";
import { openapiDocument } from "./openapi-document.ts";
import { inputFromQuery, type PlainCall, plainCallsOf } from "./plain-calls.ts";

export interface PlainHttpOptions {
  router: AppRouter;
  contextOf: (request: FastifyRequest) => Context;
}

/** The procedures of the router as plain HTTP, and their OpenAPI document. The procedures authorise each call themselves. */
export function plainHttpRoutes(app: FastifyInstance, options: PlainHttpOptions): void {
  const calls = plainCallsOf(options.router);
  const document = openapiDocument(calls);
  app.get("/openapi.json", async () => document);
  for (const call of calls) {
    app.route({
      method: call.method,
      url: call.url,
      handler: (request, reply) => answer(options, call, request, reply),
    });
  }
}

async function answer(
  { router, contextOf }: PlainHttpOptions,
  { path, kind, method, input: schema }: PlainCall,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const ended = new AbortController();
  if (kind === "subscription") reply.raw.once("close", () => ended.abort());
  const input = method === "POST" ? (request.body ?? {}) : inputFromQuery(request.query as object as Query, schema);
  const resumed = kind === "subscription" ? request.headers["last-event-id"] : undefined;
  const rawInput = resumed === undefined ? input : { ...(input as object), lastEventId: resumed };
  try {
    const made: unknown = await callTRPCProcedure({
      router,
      path,
      type: kind,
      ctx: contextOf(request),
      signal: ended.signal,
      batchIndex: 0,
      getRawInput: async () => rawInput,
    });
    if (kind !== "subscription") return await reply.send(made);
    reply.headers(streamHeaders);
    return await reply.send(Readable.from(serverSentEvents(made as AsyncIterable<unknown>), { objectMode: false }));
  } catch (error) {
    throw httpErrorOf(error);
  }
}

type Query = Readonly<Record<string, unknown>>;

/** An error in the form of this project's HTTP APIs; a fault of ours unchanged, which is logged and answered 500 or 503. */
function httpErrorOf(error: unknown): unknown {
  if (!(error instanceof TRPCError)) return error;
  const { code, cause, message } = error;
  if (code === "INTERNAL_SERVER_ERROR" || (code === "SERVICE_UNAVAILABLE" && cause)) return cause ?? error;
  if (cause instanceof z.ZodError) {
    const details = inputFaults(cause);
    return new HttpError(400, "BAD_REQUEST", sentenceOf(details), { details });
  }
  return new HttpError(
    getHTTPStatusCodeFromError(error),
    code === "SERVICE_UNAVAILABLE" ? "UNAVAILABLE" : code,
    message,
  );
}

const streamHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  // A proxy that compresses or stores the stream may collect it first.
  "cache-control": "no-cache, no-transform",
  // nginx buffers answers by default: without it the first byte arrives after some 4 kB of entries.
  "x-accel-buffering": "no",
  // A connection kept alive after the stream would delay the stop of the server.
  connection: "close",
};

/** Proxies close connections that are silent for 30 to 60 s, and readers for 30 s. */
const PING_AFTER_MS = 10_000;

/** Ends with an event `fault` if the entries end with an error. The comments between keep proxies from closing it. */
async function* serverSentEvents(entries: AsyncIterable<unknown>): AsyncGenerator<string> {
  yield ": connected\n\n";
  const iterator = entries[Symbol.asyncIterator]();
  try {
    let next = iterator.next();
    for (;;) {
      const arrived = await within(PING_AFTER_MS, next);
      if (arrived === undefined) {
        yield ": ping\n\n";
        continue;
      }
      if (arrived.done) return;
      next = iterator.next();
      // Awaited in the next round, but the reader may be gone before it.
      next.catch(() => {});
      if (isTrackedEnvelope(arrived.value))
        yield `id: ${arrived.value[0]}\ndata: ${JSON.stringify(arrived.value[1])}\n\n`;
    }
  } catch (error) {
    const fault = httpErrorOf(error);
    const { code, message } = fault instanceof HttpError ? fault : { code: "UNAVAILABLE", message: "try again later" };
    yield `event: fault\ndata: ${JSON.stringify(errorBody(code, message))}\n\n`;
  } finally {
    await iterator.return?.();
  }
}

async function within<Value>(milliseconds: number, value: Promise<Value>): Promise<Value | undefined> {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => late.resolve(undefined), milliseconds);
  try {
    return await Promise.race([value, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

import { HttpError } from "@intermission/server/http-server";
import { parseRequest } from "@intermission/server/parse-request";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { readBytes, userOf } from "../read-request.ts";
import type { Facts } from "./facts.ts";
import { receiverModes, type WebhookReceiver } from "./receiver.ts";

export interface WebhookRoutesOptions {
  /** Asks the ad service, and the bot's backend where the demo has one. */
  readonly whatHappened: (userId: string) => Promise<Facts>;
  /** Undefined for a bot of one's own, whose program receives its webhooks itself. */
  readonly receiver: WebhookReceiver | undefined;
  /** Asks the ad service to send an event once more. */
  readonly redeliver: (eventId: string) => Promise<void>;
  /** Asks the ad service to test the bot's endpoint now. */
  readonly testEndpoint: () => Promise<void>;
}

const chosenMode = z.strictObject({ mode: z.enum(receiverModes) });
const eventParams = z.object({ eventId: z.string().regex(/^[\w-]{1,64}$/, "is not the id of an event") });

/** The demo bot's webhook address, and what the panel shows and controls of webhooks. */
export function webhookRoutes(app: FastifyInstance, options: WebhookRoutesOptions): void {
  const { receiver, redeliver, testEndpoint, whatHappened } = options;
  if (receiver) {
    receivingRoute(app, receiver);
    // The token is a secret of this machine's demo data. The page verifies signatures with it.
    app.get("/receiver", async (_request, reply) => {
      reply.header("cache-control", "no-store");
      return { mode: receiver.mode, token: receiver.token };
    });
    app.put("/receiver", async (request, reply) => {
      receiver.mode = parseRequest(chosenMode, request.body).mode;
      return reply.code(204).send();
    });
  }

  app.get("/what-happened/:userId", async (request, reply) => {
    const userId = userOf(request);
    reply.header("cache-control", "no-store");
    try {
      return { outcome: "known", ...(await whatHappened(userId)) };
    } catch (error) {
      // Debug level, because the page polls every two seconds and would fill the log while the backend is down.
      request.log.debug({ err: error }, "what happened is unknown: the backend did not answer");
      return { outcome: "unknown" };
    }
  });

  app.post("/events/:eventId/redeliver", async (request, reply) => {
    const { eventId } = parseRequest(eventParams, request.params);
    await relayFailure(() => redeliver(eventId));
    return reply.code(204).send();
  });

  app.post("/endpoint/test", async (_request, reply) => {
    await relayFailure(testEndpoint);
    return reply.code(204).send();
  });
}

function receivingRoute(app: FastifyInstance, receiver: WebhookReceiver): void {
  app.register(async (scope) => {
    readBytes(scope);
    scope.post("/webhooks/ads", async (request, reply) => {
      const closed = new AbortController();
      reply.raw.once("close", () => closed.abort());
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const answer = await receiver.receive({ headers: request.headers, body }, closed.signal);
      if (answer) return reply.code(answer.status).type("text/plain; charset=utf-8").send(answer.body);
      reply.hijack();
      reply.raw.destroy();
    });
  });
}

/** The ad service refuses, or does not answer. */
async function relayFailure(act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    throw new HttpError(503, "UNAVAILABLE", error instanceof Error ? error.message : "the ad service did not do that");
  }
}

import type { Server } from "node:http";
import type { FastifyInstance } from "fastify";
import type { ErrorAnswers, ErrorPage } from "./answer-errors.ts";
import { createHttpServer, HttpError } from "./http-server.ts";
import type { Logger } from "./logger.ts";

/** A server that starts: it listens already, and answers that it is not ready. */
interface StartingServer {
  /** What the start waits for now: `/readyz` and the log say it. */
  waitFor(what: string): void;
  /** Gives the port to the finished server. No connection is refused meanwhile. */
  handOver(app: FastifyInstance): Promise<void>;
}

const SAY_EVERY_MS = 10_000;
/** A start usually takes a second, and webhooks that come meanwhile should not rest for longer. */
const RETRY_SECONDS = 1;

/**
 * Listens before the store is open, since a migration or the start of a store may take minutes: a supervisor must not take the
 * process for dead. `/healthz` answers 200, `/readyz` 503 with what is waited for, and all else 503 in the server's error form.
 */
export async function listenFirst(options: {
  readonly host: string;
  readonly port: number;
  readonly version?: string | undefined;
  readonly logger: Logger;
  readonly errorBodyFor?: ErrorAnswers["errorBodyFor"] | undefined;
  /** A page for a person; undefined for a program, which gets the error body. */
  readonly page?: ErrorPage | undefined;
  readonly sayEveryMs?: number | undefined;
}): Promise<StartingServer> {
  const { host, port, version, logger, errorBodyFor, page, sayEveryMs = SAY_EVERY_MS } = options;
  const startedAt = performance.now();
  let awaited = "the store";
  const app = createHttpServer({ logger, trustProxy: false, errorBodyFor });
  app.addHook("onRequest", async (request, reply) => {
    // The next request must reach the finished server.
    reply.header("connection", "close").header("cache-control", "no-store");
    const [path] = request.url.split("?");
    if (path === "/healthz" || path === "/readyz" || page?.(request, reply, 503) !== undefined) return;
    const headers = { "retry-after": String(RETRY_SECONDS) };
    throw new HttpError(503, "UNAVAILABLE", "the service is starting; retry later", { headers });
  });
  app.get("/healthz", async () => ({ status: "alive" }));
  app.get("/readyz", async (_request, reply) =>
    reply.code(503).send({ status: "starting", version, reason: reasonOf(awaited) }),
  );
  await app.listen({ host, port });
  const saying = setInterval(() => {
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    logger.warn({ waitsFor: awaited, seconds }, `not ready yet: ${reasonOf(awaited)}`);
  }, sayEveryMs);
  return {
    waitFor(what) {
      awaited = what;
    },
    async handOver(finished) {
      clearInterval(saying);
      const handle = host === "localhost" ? undefined : handleOf(app.server);
      if (handle === undefined) {
        // `localhost` may be two addresses, each with a socket of its own.
        await app.close();
        await finished.listen({ host, port });
        return;
      }
      const taken = { host, port, handle };
      await finished.listen(taken);
      // Connections that were opened before bring their requests now.
      app.server
        .removeAllListeners("request")
        .on("request", (request, response) => finished.routing(request, response));
    },
  };
}

const reasonOf = (awaited: string) => `the start waits for ${awaited}`;

/** The listening socket. `net.Server` takes one as `handle`, and from then on accepts its connections. */
function handleOf(server: Server): object | undefined {
  const handle = "_handle" in server ? server._handle : undefined;
  return typeof handle === "object" && handle !== null ? handle : undefined;
}

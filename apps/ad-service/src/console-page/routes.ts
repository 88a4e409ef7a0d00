import { HttpError } from "@intermission/server/http-server";
import { notFound } from "@intermission/server/refuse";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { isBeingBuilt, openServedPage, type ServedPage } from "../miniapp-page/built-page.ts";
import { BUILD_RETRY_SECONDS, sendFriendlyPage } from "../miniapp-page/friendly-page.ts";
import { sendAsset, sendHtml } from "../miniapp-page/send-built-files.ts";
import { consolePolicy, missingConsole } from "./built-console.ts";

/** `GET /console` and the addresses of its screens: the built console; its files are under `/console/assets/`. */
export function consolePageRoutes(app: FastifyInstance, { consoleDir }: { consoleDir: string }): void {
  const page: ServedPage = { folder: consoleDir, built: undefined };
  app.register(async (scope) => {
    await openServedPage(page);

    // From memory alone: a build while this server runs changes neither its page nor its files.
    scope.get<{ Params: { "*": string } }>("/console/assets/*", async (request, reply) => {
      const asset = (await openServedPage(page))?.assets.get(request.params["*"]);
      if (asset === undefined && (await isBeingBuilt(consoleDir))) throw beingBuilt();
      if (asset === undefined) throw notFound("there is no such file");
      return sendAsset(request, reply, asset);
    });

    const sendConsole = async (request: FastifyRequest, reply: FastifyReply) => {
      const built = await openServedPage(page);
      if (built === undefined && (await isBeingBuilt(consoleDir)))
        return sendFriendlyPage(request, reply, 503, "being-built");
      if (built === undefined) {
        request.log.error(await missingConsole(consoleDir));
        return sendFriendlyPage(request, reply, 503, "not-built");
      }
      reply.header("x-robots-tag", "noindex").header("x-frame-options", "DENY");
      reply.header("permissions-policy", "camera=(), microphone=(), geolocation=(), payment=()");
      reply.header("cross-origin-opener-policy", "same-origin");
      return sendHtml(request, reply, { html: built.html, policy: consolePolicy(built) });
    };
    for (const path of ["/console", "/console/*"]) scope.get(path, sendConsole);
  });
}

/** For programs, and for files: a person gets a page. */
function beingBuilt(): HttpError {
  return new HttpError(503, "UNAVAILABLE", "the console is being built; ask again in some seconds", {
    headers: { "retry-after": String(BUILD_RETRY_SECONDS) },
  });
}

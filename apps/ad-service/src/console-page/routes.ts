import { notFound } from "@intermission/server/refuse";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type BuiltPage, loadBuiltPage } from "../miniapp-page/built-page.ts";
import { sendFriendlyPage } from "../miniapp-page/friendly-page.ts";
import { sendAsset, sendHtml } from "../miniapp-page/send-built-files.ts";
import { consolePolicy, missingConsole } from "./built-console.ts";

/** `GET /console` and the addresses of its screens: the built console; its files are under `/console/assets/`. */
export function consolePageRoutes(app: FastifyInstance, { consoleDir }: { consoleDir: string }): void {
  let built: BuiltPage | undefined;
  app.register(async (scope) => {
    built = await loadBuiltPage(consoleDir);

    // From memory alone: a build while this server runs changes neither its page nor its files.
    scope.get<{ Params: { "*": string } }>("/console/assets/*", async (request, reply) => {
      const asset = built?.assets.get(request.params["*"]);
      if (asset === undefined) throw notFound("there is no such file");
      return sendAsset(request, reply, asset);
    });

    const sendConsole = async (request: FastifyRequest, reply: FastifyReply) => {
      built ??= await loadBuiltPage(consoleDir);
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

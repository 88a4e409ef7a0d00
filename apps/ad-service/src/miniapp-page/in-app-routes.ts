import { createHash } from "node:crypto";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzip as gzipBytes } from "node:zlib";
import { telegramId } from "@intermission/ad-core/wire-fields";
import type { Database } from "@intermission/postgres/open-database";
import type { BriefCache } from "@intermission/server/brief-cache";
import { notFound } from "@intermission/server/refuse";
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Bots, findBot } from "../bots/bots.ts";
import { keepScript, readKeptScript } from "../bots/kept-scripts.ts";
import {
  contentSecurityPolicy,
  embedAppOrigins,
  embedBotPicture,
  isBeingBuilt,
  openServedPage,
  originsOf,
  type ServedPage,
  type SourcesElsewhere,
} from "./built-page.ts";
import { sendFriendlyPage } from "./friendly-page.ts";
import { sendAsset, sendHtml } from "./send-built-files.ts";

interface InAppDeps {
  database: Database;
  bots: Bots;
  /** Where the mini-app was built; the frame and its script are a build in it. */
  miniappDir: string;
  publicUrl: string;
}

/** Files of the build by the names that pages load them by. The others have the names of networks that a page was written for. */
const scripts = { "v1.js": "sdk-v1.js", "adsgram.js": "sdk-adsgram.js", "monetag.js": "sdk-monetag.js" };

/**
 * Ads inside the publisher's own mini-app: `GET /sdk/v1.js`, the script in its pages, the same with the names of other
 * networks, and `GET /embed/{bot_id}`, the frame that the script shows. Only pages of the
 * bot's registered origins may show it; without any, none.
 */
export async function inAppRoutes(
  scope: FastifyInstance,
  { database, bots, miniappDir, publicUrl }: InAppDeps,
  elsewhere: BriefCache<SourcesElsewhere>,
): Promise<void> {
  const folder = join(miniappDir, "embed");
  const page: ServedPage = { folder, built: undefined };
  // It is a part of the mini-app's build.
  const open = async () => ((await isBeingBuilt(miniappDir)) ? page.built : openServedPage(page));
  await open();

  scope.get<{ Params: { "*": string } }>("/app/embed/assets/*", async (request, reply) => {
    const asset = page.built?.assets.get(request.params["*"]);
    if (asset === undefined) throw notFound("there is no such file");
    return sendAsset(request, reply, asset);
  });

  let isKept = false;
  const keepOnce = async (script: Buffer, log: FastifyBaseLogger) => {
    if (isKept) return;
    try {
      await keepScript(database, script);
      isKept = true;
    } catch (error) {
      log.error(
        { err: error },
        "the in-app script could not be kept for pages that name its hash; the next call tries again",
      );
    }
  };
  const first = page.built?.assets.get(scripts["v1.js"]);
  if (first) await keepOnce(first.bytes, scope.log);

  const sendScript = async (fileName: string, request: FastifyRequest, reply: FastifyReply) => {
    const script = (await open())?.assets.get(fileName);
    if (script === undefined) throw notFound("the mini-app is not built: run `npm run build`");
    if (fileName === scripts["v1.js"]) await keepOnce(script.bytes, request.log);
    const etag = `"${createHash("sha256").update(script.bytes).digest("base64url").slice(0, 27)}"`;
    // Pages of any origin load it, also with `crossorigin` and the hash of its text.
    reply.header("access-control-allow-origin", "*").header("cross-origin-resource-policy", "cross-origin");
    reply.header("etag", etag);
    if (request.headers["if-none-match"]?.includes(etag))
      return reply.header("cache-control", "no-cache").code(304).send();
    return sendAsset(request, reply, script, "no-cache");
  };
  for (const [name, fileName] of Object.entries(scripts))
    scope.get(`/sdk/${name}`, (request, reply) => sendScript(fileName, request, reply));

  // This address always serves the same bytes, for pages that name the hash in `integrity`.
  scope.get<{ Params: { hash: string } }>("/sdk/v1.:hash.js", async (request, reply) => {
    const bytes = await readKeptScript(database, request.params.hash);
    if (bytes === undefined) throw notFound("no script of this hash was ever served here: load /sdk/v1.js");
    reply.header("access-control-allow-origin", "*").header("cross-origin-resource-policy", "cross-origin");
    const gzip = await promisify(gzipBytes)(bytes, { level: 9 });
    return sendAsset(request, reply, { bytes, mediaType: "text/javascript; charset=utf-8", brotli: undefined, gzip });
  });

  scope.get<{ Params: { botId: string } }>("/embed/:botId", async (request, reply) => {
    const { botId } = request.params;
    const bot = telegramId.safeParse(botId).success ? await findBot(bots, botId) : undefined;
    if (!bot) return sendFriendlyPage(request, reply, 404, "unknown-bot");
    const built = await open();
    if (!built) return sendFriendlyPage(request, reply, 503, "not-built");
    const pictured = embedBotPicture(built, bot, publicUrl);
    const origins = originsOf(bot, { publicUrl });
    const policy = contentSecurityPolicy(pictured, origins, bot.appOrigins, await elsewhere.get("all"));
    reply.header("permissions-policy", "autoplay=(self), camera=(), microphone=(), geolocation=(), payment=()");
    reply.header("accept-ch", "ECT, Downlink, Save-Data, Sec-CH-Viewport-Width, Sec-CH-DPR");
    reply.header("x-robots-tag", "noindex");
    return sendHtml(request, reply, { html: embedAppOrigins(pictured.html, bot.appOrigins), policy });
  });
}

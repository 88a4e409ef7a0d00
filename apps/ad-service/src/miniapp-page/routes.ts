import type { IncomingHttpHeaders } from "node:http";
import { join } from "node:path";
import fastifyStatic from "@fastify/static";
import { telegramId } from "@intermission/ad-core/wire-fields";
import type { Bot } from "@intermission/operator-api/bots";
import { type Database, statement } from "@intermission/postgres/open-database";
import { unavailabilityOf } from "@intermission/postgres/store-faults";
import { briefCache } from "@intermission/server/brief-cache";
import { noteUnavailability } from "@intermission/server/http-server";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Bots, findBot } from "../bots/bots.ts";
import {
  botLink,
  contentSecurityPolicy,
  type EmbeddedVideo,
  embedBotLink,
  embedBotPicture,
  embedPrivacyPolicy,
  embedVideo,
  isBeingBuilt,
  openServedPage,
  originOf,
  originsOf,
  qrCode,
  type ServedPage,
  sourcesElsewhere,
  TELEGRAM_FRAMES,
} from "./built-page.ts";
import { errorPage, redirect, sendFriendlyPage, setPageHeaders } from "./friendly-page.ts";
import { inAppRoutes } from "./in-app-routes.ts";
import { previewRoutes } from "./player-preview.ts";
import { sendAsset, sendHtml } from "./send-built-files.ts";
import { settingsRoute } from "./settings-page.ts";
import { taskListRoutes } from "./task-list-routes.ts";

export interface MiniappPageDeps {
  database: Database;
  bots: Bots;
  /** Where `vite build` of apps/miniapp wrote index.html and assets/. */
  miniappDir: string;
  publicUrl: string;
  /** In demo mode only: videos and pictures of VAST tags may use http. */
  isPlainHttpAllowed: boolean;
  /** The video that an opening of this code will most likely show. Without it the page loads no video ahead. */
  findVideo?: (of: { bot: Bot; code: string; headers: IncomingHttpHeaders }) => Promise<EmbeddedVideo | undefined>;
  /** The demo's simulated chat, which shows the page in a frame; in demo mode only. */
  demoChatOrigin?: string | undefined;
}

const firstBots = statement<{ botId: string }>("miniapp-page.first-bots", 'select bot_id as "botId" from bots limit 2');
const ONLY_BOT_KEPT_MS = 1000;
const QR_CODE_KEPT_SECONDS = 3600;

/**
 * `GET /app/{bot_id}`: the built mini-app with the policy and the address of that bot, `GET /app/{bot_id}/qr.svg`: that
 * address as a QR code, `GET /app/{bot_id}/settings`: what is stored of its users, and the app's files under `/app/assets/`. Bots append
 * `?user_tg_id=…` to the address that they were given, so it may end with a slash; an address without a bot's id leads
 * to the bot if there is only one. `GET /app/preview`: the same app for the console's frame.
 */
export function miniappPageRoutes(app: FastifyInstance, deps: MiniappPageDeps): void {
  const page: ServedPage = { folder: deps.miniappDir, built: undefined };
  const elsewhere = sourcesElsewhere(deps.database, deps);
  const framedBy = [...TELEGRAM_FRAMES, originOf(deps.demoChatOrigin)];

  app.register(async (scope) => {
    await openServedPage(page);
    await scope.register(fastifyStatic, { root: join(deps.miniappDir, "assets"), serve: false, preCompressed: true });

    // A person is waiting for a page.
    scope.setErrorHandler((error, request, reply) => {
      const unavailability = unavailabilityOf(error);
      if (unavailability === undefined) throw error;
      noteUnavailability(request, reply, error, unavailability);
      return sendFriendlyPage(request, reply, 503, "unavailable");
    });

    scope.get<{ Params: { "*": string } }>("/app/assets/*", (request, reply) => {
      const asset = page.built?.assets.get(request.params["*"]);
      if (asset) return sendAsset(request, reply, asset);
      reply.header("x-content-type-options", "nosniff");
      return reply.sendFile(request.params["*"], { maxAge: "365d", immutable: true, dotfiles: "ignore" });
    });

    const onlyBot = briefCache<string>({
      maxAgeMs: ONLY_BOT_KEPT_MS,
      maxEntries: 1,
      async load() {
        const [first, second] = await deps.database.run(firstBots, []);
        return second ? undefined : first?.botId;
      },
    });

    const sendApp = async (request: FastifyRequest, reply: FastifyReply) => {
      const [path = "", ...query] = request.url.split("?");
      const [, botId, ...beyond] = path.split("/").filter((part) => part !== "");
      if (beyond.length > 0) return errorPage(request, reply, 404);
      if (botId === undefined) {
        const only = await onlyBot.get("only");
        if (only === undefined) return sendFriendlyPage(request, reply, 404, "no-bot");
        return redirect(reply, [`/app/${only}`, ...query].join("?"));
      }
      const bot = telegramId.safeParse(botId).success ? await findBot(deps.bots, botId) : undefined;
      if (!bot) return sendFriendlyPage(request, reply, 404, "unknown-bot");
      const built = await openServedPage(page);
      if (!built) {
        if (await isBeingBuilt(deps.miniappDir)) return sendFriendlyPage(request, reply, 503, "being-built");
        request.log.error({ folder: deps.miniappDir }, "there is no built mini-app: run `npm run build`");
        return sendFriendlyPage(request, reply, 503, "not-built");
      }
      const pictured = embedBotPicture(built, bot, deps.publicUrl);
      const policy = contentSecurityPolicy(pictured, originsOf(bot, deps), framedBy, await elsewhere.get("all"));
      const code = new URLSearchParams(query.join("?")).get("code");
      const video = code ? await deps.findVideo?.({ bot, code, headers: request.headers }) : undefined;
      const linked = embedPrivacyPolicy(embedBotLink(pictured.html, bot), bot);
      const html = video ? embedVideo(linked, video) : linked;
      reply.header("permissions-policy", "autoplay=(self), camera=(), microphone=(), geolocation=(), payment=()");
      // The hints by which the video's file is chosen when this page opens its view.
      reply.header("accept-ch", "ECT, Downlink, Save-Data, Sec-CH-Viewport-Width, Sec-CH-DPR");
      // A bot's page may be indexed. An address with a code in it belongs to one user.
      if (request.url.includes("?")) reply.header("x-robots-tag", "noindex");
      // The length tells nothing: the page contains no secret, and of the request only what its code chooses among the ads.
      return sendHtml(request, reply, { html, policy });
    };

    qrCodeRoute(scope, deps);
    settingsRoute(scope, deps);
    await previewRoutes(scope, deps);
    await inAppRoutes(scope, deps, elsewhere);
    await taskListRoutes(scope, deps, framedBy);
    for (const path of ["/app", "/app/:botId", "/app/*"]) scope.get(path, sendApp);
  });
}

/** For the page on a computer: a phone opens the bot from the screen. */
function qrCodeRoute(scope: FastifyInstance, deps: Pick<MiniappPageDeps, "bots">): void {
  scope.get<{ Params: { botId: string } }>("/app/:botId/qr.svg", async (request, reply) => {
    const { botId } = request.params;
    const bot = telegramId.safeParse(botId).success ? await findBot(deps.bots, botId) : undefined;
    const link = bot && botLink(bot);
    if (link === undefined) return errorPage(request, reply, 404);
    setPageHeaders(reply, "default-src 'none'");
    reply.header("cache-control", `public, max-age=${QR_CODE_KEPT_SECONDS}`);
    return reply.type("image/svg+xml").send(qrCode(link));
  });
}

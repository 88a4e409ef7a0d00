import { join } from "node:path";
import { telegramId } from "@intermission/ad-core/wire-fields";
import { notFound } from "@intermission/server/refuse";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Bots, findBot } from "../bots/bots.ts";
import {
  contentSecurityPolicy,
  embedAppOrigins,
  embedBotLink,
  embedBotPicture,
  embedPrivacyPolicy,
  isBeingBuilt,
  openServedPage,
  originsOf,
  type ServedPage,
} from "./built-page.ts";
import { sendFriendlyPage } from "./friendly-page.ts";
import { sendAsset, sendHtml } from "./send-built-files.ts";

interface TaskListPageDeps {
  bots: Bots;
  /** Where the mini-app was built; the list is a build in it. */
  miniappDir: string;
  publicUrl: string;
}

/**
 * A user's list of tasks: `GET /app/{bot_id}/tasks` in Telegram's window, `GET /embed/{bot_id}/tasks` in a frame that only pages of
 * the bot's registered origins may show, and the files of both under `/app/tasks/assets/`.
 */
export async function taskListRoutes(
  scope: FastifyInstance,
  { bots, miniappDir, publicUrl }: TaskListPageDeps,
  /** Whose pages may show it in Telegram's window. */
  telegramFrames: readonly (string | undefined)[],
): Promise<void> {
  const page: ServedPage = { folder: join(miniappDir, "tasks"), built: undefined };
  // It is a part of the mini-app's build.
  const open = async () => ((await isBeingBuilt(miniappDir)) ? page.built : openServedPage(page));
  await open();

  scope.get<{ Params: { "*": string } }>("/app/tasks/assets/*", async (request, reply) => {
    const asset = page.built?.assets.get(request.params["*"]);
    if (asset === undefined) throw notFound("there is no such file");
    return sendAsset(request, reply, asset);
  });

  const send = async (request: FastifyRequest<{ Params: { botId: string } }>, reply: FastifyReply) => {
    const { botId } = request.params;
    const bot = telegramId.safeParse(botId).success ? await findBot(bots, botId) : undefined;
    if (!bot) return sendFriendlyPage(request, reply, 404, "unknown-bot");
    const built = await open();
    if (!built) return sendFriendlyPage(request, reply, 503, "not-built");
    const isFramed = request.url.startsWith("/embed/");
    const pictured = embedBotPicture(built, bot, publicUrl);
    const framedBy = isFramed ? bot.appOrigins : telegramFrames;
    const policy = contentSecurityPolicy(pictured, originsOf(bot, { publicUrl }), framedBy);
    reply.header("permissions-policy", "camera=(), microphone=(), geolocation=(), payment=()");
    reply.header("x-robots-tag", "noindex");
    const linked = embedPrivacyPolicy(embedBotLink(pictured.html, bot), bot);
    return sendHtml(request, reply, { html: isFramed ? embedAppOrigins(linked, bot.appOrigins) : linked, policy });
  };
  for (const path of ["/app/:botId/tasks", "/app/:botId/tasks/", "/embed/:botId/tasks"]) scope.get(path, send);
}

import { join } from "node:path";
import fastifyStatic from "@fastify/static";
import { healthRoutes } from "@intermission/server/health";
import { createHttpServer, refuseOtherMethods } from "@intermission/server/http-server";
import type { Logger } from "@intermission/server/logger";
import type { FastifyInstance } from "fastify";
import { type GameRoutesOptions, gameRoutes } from "./game/routes.ts";
import { guardPage } from "./guard-page.ts";
import type { ServedBot } from "./own-bot/bot-api-call.ts";
import type { OwnBot } from "./own-bot/own-bot.ts";
import { botApiRoutes, servedOwnBot } from "./own-bot/routes.ts";
import { type PhoneRoutesOptions, phoneRoutes } from "./phone/routes.ts";
import { rehearsedAdRoutes } from "./rehearsed-ads/routes.ts";
import { type ChatRoutesOptions, chatRoutes } from "./simulated-chat/routes.ts";
import { type TaskChannelRoutesOptions, taskChannelRoutes } from "./task-channel/routes.ts";
import { type TimelineRoutesOptions, timelineRoutes } from "./timeline/routes.ts";
import { type WebhookRoutesOptions, webhookRoutes } from "./webhooks/routes.ts";

export interface AppOptions
  extends ChatRoutesOptions,
    GameRoutesOptions,
    PhoneRoutesOptions,
    TaskChannelRoutesOptions,
    TimelineRoutesOptions,
    WebhookRoutesOptions {
  readonly logger: Logger;
  /** A bot of one's own, in place of Coin Garden. */
  readonly ownBot?: OwnBot | undefined;
  /** The bot of the channel that tasks are about. */
  readonly taskBot?: ServedBot | undefined;
}

/** The demo chat's server with all its routes. */
export function createApp(options: AppOptions): FastifyInstance {
  const app = createHttpServer({ logger: options.logger, trustProxy: false });
  guardPage(app, options);
  healthRoutes(app, { check: async () => {} });
  chatRoutes(app, options);
  phoneRoutes(app, options);
  gameRoutes(app, options);
  timelineRoutes(app, options);
  webhookRoutes(app, options);
  taskChannelRoutes(app, options);
  const served = [options.ownBot && servedOwnBot(options.ownBot), options.taskBot].filter((bot) => bot !== undefined);
  if (served.length > 0) botApiRoutes(app, { bots: served, stopping: options.stopping });
  rehearsedAdRoutes(app, options);
  app.register(fastifyStatic, {
    root: join(import.meta.dirname, "../public"),
    cacheControl: false,
    extensions: ["html"],
  });
  app.after(() => refuseOtherMethods(app));
  return app;
}

import { readFileSync } from "node:fs";
import { HttpError } from "@intermission/server/http-server";
import { parseRequest } from "@intermission/server/parse-request";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { userOf } from "../read-request.ts";
import type { LaunchRequest } from "../simulated-chat/sign-launch.ts";
import type { ViewRecords } from "../timeline/view-records.ts";
import { GAME_PAGE } from "./game-page.ts";

export interface GameRoutesOptions {
  readonly botId: string;
  readonly adServiceUrl: string;
  readonly views: ViewRecords;
  readonly signLaunch: (request: LaunchRequest) => string;
  readonly now: () => Date;
  /** The game's backend; undefined for a bot of one's own, which has no game here. */
  readonly game?: GameBackend | undefined;
}

interface GameBackend {
  /** Whose launch data this is; undefined if Telegram's stand-in has not signed it. */
  userOf(initData: string): string | undefined;
  /** A new code of the user, from the publisher's backend; undefined if there is none now. */
  newCode(userId: string): Promise<string | undefined>;
}

const page = readFileSync(new URL("./play.html", import.meta.url), "utf8");
const newLaunch = z.object({
  language: z.string().max(40),
  themeParams: z.record(z.string().max(40), z.string().regex(/^#[0-9a-f]{6}$/i)),
});
const newCode = z.object({ initData: z.string().max(8192) });

/**
 * A game that is a mini-app of its own, at another origin than the ad service's: `GET /play`, with the script in its page, and
 * its backend.
 */
export function gameRoutes(app: FastifyInstance, { game, botId, adServiceUrl, ...options }: GameRoutesOptions): void {
  if (game === undefined) return;
  const { views, signLaunch, now } = options;
  const html = page.replaceAll("https://rewards.example.com", adServiceUrl).replaceAll("7000000001", botId);
  app.get(GAME_PAGE, (_request, reply) => reply.type("text/html; charset=utf-8").send(html));

  app.post("/game/:userId/launch", async (request) => {
    const userId = userOf(request);
    const { language, themeParams } = parseRequest(newLaunch, request.body);
    const launch = { userId, language, themeParams, platform: "web", isReplyKeyboard: false, now: now() };
    return { url: signLaunch({ ...launch, miniappUrl: GAME_PAGE }) };
  });

  app.post("/game/code", async (request) => {
    const userId = game.userOf(parseRequest(newCode, request.body).initData);
    if (userId === undefined) throw new HttpError(401, "UNAUTHORIZED", "this is not launch data of the bot");
    const code = await game.newCode(userId);
    if (code !== undefined) views.add(userId, { kind: "requested", at: now().toISOString() }, code);
    return { code: code ?? null };
  });
}

import { openSessionRequest, statusRequest } from "@intermission/ad-core/player-api";
import { telegramId } from "@intermission/ad-core/wire-fields";
import { HttpError } from "@intermission/server/http-server";
import { parseRequest } from "@intermission/server/parse-request";
import type { FastifyInstance } from "fastify";
import { framedBySelf } from "../read-request.ts";
import { type Rehearsal, type RehearsalName, rehearsals } from "./rehearsals.ts";

interface RehearsedAdsOptions {
  readonly miniappOrigin: string;
  readonly now: () => Date;
}

const MAX_FETCH_MS = 5000;

/**
 * `/scenario/{name}/app/{bot id}`: the real mini-app, from the ad service, with answers of a player API that is played here.
 * Nothing is stored or counted.
 */
export function rehearsedAdRoutes(app: FastifyInstance, { miniappOrigin, now }: RehearsedAdsOptions): void {
  app.get<{ Params: { name: string; botId: string } }>("/scenario/:name/app/:botId", async (request, reply) => {
    const { name, botId } = request.params;
    if (!isRehearsal(name) || !telegramId.safeParse(botId).success) throw notFound();
    const page = await fetchFile(`${miniappOrigin}/app/${botId}`);
    const html = (await page.text()).replace("<head>", `<head><meta name="ad-service" content="/scenario/${name}" />`);
    reply.header("content-security-policy", framedBySelf(page));
    return reply.type("text/html; charset=utf-8").send(html);
  });

  app.get<{ Params: { file: string } }>("/app/assets/:file", async (request, reply) => {
    const { file } = request.params;
    if (!/^[\w-]{1,80}\.(js|css)$/.test(file)) throw notFound();
    const asset = await fetchFile(`${miniappOrigin}/app/assets/${file}`);
    return reply.type(asset.headers.get("content-type") ?? "text/plain").send(await asset.text());
  });

  app.register(async (scope) => {
    // The mini-app sends its JSON as text/plain: see the ad service's player routes.
    scope.addContentTypeParser("text/plain", { parseAs: "string" }, scope.getDefaultJsonParser("error", "error"));
    const sessions = "/scenario/:name/player/v1/sessions";
    scope.post<{ Params: { name: string } }>(sessions, (request) => {
      const { bot_id: botId } = parseRequest(openSessionRequest, request.body);
      return rehearsalOf(request.params.name).open(botId, now());
    });
    scope.post<{ Params: { name: string; id: string } }>(`${sessions}/:id/status`, (request) => {
      parseRequest(statusRequest, request.body);
      const status = rehearsalOf(request.params.name).status?.(now());
      if (!status) throw new HttpError(401, "SESSION_UNKNOWN", "there is no such session");
      return status;
    });
  });
}

async function fetchFile(url: string): Promise<Response> {
  const response = await fetch(url, { signal: AbortSignal.timeout(MAX_FETCH_MS) }).catch(() => undefined);
  if (response?.ok) return response;
  throw new HttpError(503, "UNAVAILABLE", "the ad service does not serve the mini-app right now");
}

function rehearsalOf(name: string): Rehearsal {
  if (!isRehearsal(name)) throw notFound();
  return rehearsals[name];
}

function isRehearsal(name: string): name is RehearsalName {
  return Object.hasOwn(rehearsals, name);
}

function notFound(): HttpError {
  return new HttpError(404, "NOT_FOUND", "there is no such scenario");
}

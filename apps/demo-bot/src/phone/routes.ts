import { telegramId } from "@intermission/ad-core/wire-fields";
import { HttpError } from "@intermission/server/http-server";
import { parseRequest } from "@intermission/server/parse-request";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { framedBySelf, readBytes, userOf } from "../read-request.ts";
import type { ViewRecords } from "../timeline/view-records.ts";
import { cross, NetworkGone, networks, type Phone, type Phones } from "./phones.ts";
import { sessionOf, stepOf } from "./read-player-calls.ts";
import { ANSWER_WITHIN_MS, bodyOf, callServer, type ServerCall, send, throughPhone, unavailable } from "./relay.ts";

export interface PhoneRoutesOptions {
  readonly phones: Phones;
  readonly views: ViewRecords;
  readonly adServiceUrl: string;
  readonly miniappOrigin: string;
  readonly now: () => Date;
}

type Of<Names extends string> = { Params: Record<"userId" | Names, string> };

/**
 * The network of the simulated phone: `/phone/{user id}/…` is the mini-app's page, the ad service's player API and media, and
 * the publisher's API, from this page's own origin. Each request goes to the real server and its answer comes back, at the
 * speed of the chosen network; the calls of the mini-app are the steps of the view's timeline.
 */
export function phoneRoutes(app: FastifyInstance, options: PhoneRoutesOptions): void {
  const { phones, adServiceUrl, miniappOrigin } = options;

  app.put<Of<never>>("/phone/:userId/network", async (request, reply) => {
    phones.of(userOf(request)).network = parseRequest(chosenNetwork, request.body).network;
    return reply.code(204).send();
  });

  app.register(async (scope) => {
    readBytes(scope);
    scope.setErrorHandler((error, _request, reply) => {
      if (!(error instanceof NetworkGone)) throw error;
      reply.hijack();
      reply.raw.destroy();
    });

    scope.get<Of<"botId">>("/phone/:userId/app/:botId", async (request, reply) => {
      const { botId } = request.params;
      if (!telegramId.safeParse(botId).success) throw notFound();
      const [, query = ""] = request.url.split("?", 2);
      const page = await forward(request, `${miniappOrigin}/app/${botId}?${query}`);
      reply.header("content-security-policy", framedBySelf(page));
      const html = throughPhone(await page.text(), phoneUrl(request), adServiceUrl);
      await send(reply, phoneOf(request), page, [Buffer.from(html)]);
    });

    scope.get<Of<"file">>("/phone/:userId/app/assets/:file", (request, reply) =>
      relay(request, reply, `${miniappOrigin}/app/assets/${fileOf(request.params.file)}`),
    );
    scope.get<Of<"file">>("/phone/:userId/media/:file", (request, reply) =>
      relay(request, reply, `${adServiceUrl}/media/${fileOf(request.params.file)}`),
    );

    scope.post<Of<"*">>("/phone/:userId/player/v1/*", async (request, reply) => {
      const answer = await callPlayerApi(options, request);
      await send(reply, phoneOf(request), answer.response, [Buffer.from(answer.text)]);
    });

    scope.route<Of<"*">>({
      method: ["GET", "POST"],
      url: "/phone/:userId/publisher/*",
      handler: async (request, reply) => {
        const { publisherApi } = phoneOf(request);
        if (publisherApi === undefined) throw notFound();
        const rest = request.url.split("/publisher/").slice(1).join("/publisher/");
        // The page of the mini-app that this publisher's API expects.
        await relay(request, reply, `${publisherApi.replace(/\/$/, "")}/${rest}`, { origin: miniappOrigin });
      },
    });

    scope.post<Of<never>>("/phone/:userId/hidden-report", async (request, reply) => {
      await reportHidden(options, request);
      return reply.code(204).send();
    });
  });

  const phoneOf = (request: FastifyRequest): Phone => phones.of(userOf(request));

  async function relay(
    request: FastifyRequest,
    reply: FastifyReply,
    url: string,
    headers: Record<string, string> = {},
  ) {
    const closed = new AbortController();
    reply.raw.once("close", () => closed.abort());
    const response = await forward(request, url, { headers, signal: closed.signal });
    await send(reply, phoneOf(request), response, response.body ?? []);
  }

  async function forward(request: FastifyRequest, url: string, call: ServerCall = {}): Promise<Response> {
    await cross(phoneOf(request));
    return callServer(request, url, call);
  }
}

const chosenNetwork = z.strictObject({
  network: z.enum(Object.keys(networks) as [keyof typeof networks, ...(keyof typeof networks)[]]),
});

/** Passes a call of the mini-app on, and adds it to the timeline of the view. */
async function callPlayerApi(options: PhoneRoutesOptions, request: FastifyRequest<Of<"*">>) {
  const { phones, views, adServiceUrl, now } = options;
  const userId = userOf(request);
  const phone = phones.of(userId);
  await cross(phone);
  const path = request.params["*"];
  if (!/^sessions(\/[\w-]{1,80}\/(reports|faults|status))?$/.test(path)) throw notFound();
  const at = now();
  const response = await callServer(request, `${adServiceUrl}/player/v1/${path}`);
  const text = await response.text();
  const answer = jsonOf(text);
  const times = { at: at.toISOString(), ms: now().getTime() - at.getTime() };
  const session = path === "sessions" ? sessionOf(answer) : undefined;
  if (session) {
    phone.session = session;
    phone.publisherApi = session.publisherApi;
  }
  const step = stepOf({ path, request: jsonOf(bodyOf(request)?.toString()), answer, ...times });
  if (step) views.add(userId, step, session?.code);
  return { response, text: throughPhone(text, phoneUrl(request), adServiceUrl, session?.publisherApi) };
}

const hiddenRange = z.strictObject({ fromMs: z.int().min(0), toMs: z.int().min(0) });
/** Above the numbers of every honest player. */
const HIDDEN_SEQUENCE = 900_000;

/** The report of a client that plays on while nobody looks: the mini-app itself pauses, and would send none. */
async function reportHidden({ phones, views, adServiceUrl, now }: PhoneRoutesOptions, request: FastifyRequest) {
  const userId = userOf(request);
  const { fromMs: from_ms, toMs: to_ms } = parseRequest(hiddenRange, jsonOf(bodyOf(request)?.toString()));
  const { session } = phones.of(userId);
  if (session === undefined) throw notFound();
  const at = now();
  const sequence = HIDDEN_SEQUENCE + (at.getTime() % 100_000);
  const report = { token: session.token, reports: [{ sequence, from_ms, to_ms, visible: false, muted: true }] };
  const response = await fetch(`${adServiceUrl}/player/v1/sessions/${session.id}/reports`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(report),
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
  }).catch(unavailable);
  const answer = jsonOf(await response.text());
  const ms = now().getTime() - at.getTime();
  const step = stepOf({ path: `sessions/${session.id}/reports`, request: report, answer, at: at.toISOString(), ms });
  if (step) views.add(userId, step);
}

function phoneUrl(request: FastifyRequest): string {
  return `http://${request.headers.host}/phone/${userOf(request)}`;
}

function fileOf(name: string): string {
  if (/^[\w.-]{1,120}$/.test(name) && !name.startsWith(".")) return name;
  throw notFound();
}

function jsonOf(text = ""): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function notFound(): HttpError {
  return new HttpError(404, "NOT_FOUND", "the simulated phone knows no such address");
}

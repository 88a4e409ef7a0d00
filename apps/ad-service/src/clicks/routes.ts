import { createHmac } from "node:crypto";
import { pageLanguage } from "@intermission/ad-core/page-language";
import { unavailabilityOf } from "@intermission/postgres/store-faults";
import { type ClientNetworks, clientNetworks } from "@intermission/server/client-address";
import { logUnavailability, UNAVAILABLE_RETRY_SECONDS } from "@intermission/server/http-server";
import { rateLimiter, secondsToWait } from "@intermission/server/rate-limiter";
import { openKnownAgents, recognisePerson, type Visitor } from "@intermission/server/visitor";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { CountrySource } from "../ad-selection/country-source.ts";
import { utcDay } from "../ad-selection/limit-of-viewer.ts";
import { type Clicks, type FollowOutcome, followDirectLink } from "./follow-direct-link.ts";
import { type LinkPage, linkPage, linkPagePolicy } from "./link-page.ts";
import type { PageName } from "./page-texts/link-page-texts.ts";
import {
  issueTapToken,
  judgeTap,
  newTapCookie,
  setTapCookie,
  type TapPage,
  type TapVerdict,
  tapCookieIn,
  tapTokenKey,
} from "./tap-token.ts";
import type { AddressHashes, Visit } from "./visit.ts";

export interface DirectLinkDeps {
  clicks: Clicks;
  countrySource?: CountrySource | undefined;
  /** The key from the environment. */
  encryptionKey: Uint8Array;
  /** While the key is rotated. */
  previousEncryptionKey?: Uint8Array | undefined;
  /** The public address of the links: a proxy may rewrite `Host`. */
  directLinkUrl?: string | undefined;
  now?: () => Date;
}

/** Also matches shorter and longer texts, so that a link which lost a letter gets a page; no other path of ours matches. */
const PATH = "/:code(^[0-9A-Za-z]{8,64}$)";

const statusOf = {
  landed: 302,
  "tap-needed": 200,
  machine: 200,
  "unknown-code": 404,
  expired: 410,
  used: 410,
  limited: 429,
  "address-limit": 429,
  "no-ad": 200,
} satisfies Record<FollowOutcome["outcome"], number>;

/** While the key is rotated, some nodes know only the previous one. So it stays in use until it is removed from the settings. */
function keysOf({ encryptionKey: current, previousEncryptionKey: previous }: DirectLinkDeps) {
  const encryptionKey = previous ?? current;
  const tokenKey = tapTokenKey(encryptionKey);
  return {
    // As text, since Node needs 12 µs for an HMAC with the bytes and 2 µs with a text.
    addressKey: Buffer.from(encryptionKey).toString("base64"),
    tokenKey,
    acceptedKeys: previous === undefined ? [tokenKey] : [tokenKey, tapTokenKey(current)],
  };
}

/** `GET|HEAD|POST /{code}` at the root of the direct links' address. */
export function directLinkRoutes(app: FastifyInstance, deps: DirectLinkDeps): void {
  const { clicks, countrySource, directLinkUrl, now = () => new Date() } = deps;
  const ownUrl = directLinkUrl === undefined ? undefined : new URL(directLinkUrl);
  const basePath = ownUrl?.pathname.replace(/\/+$/, "") ?? "";
  const { addressKey, tokenKey, acceptedKeys } = keysOf(deps);
  const agents = openKnownAgents();
  // In this process only: they protect the database from floods and decide no money. Many people may share an address.
  const visitsOfCode = rateLimiter({ quota: 20, windowSeconds: 100, maxKeys: 50_000 });
  const visitsOfAddress = rateLimiter({ quota: 500, windowSeconds: 25, maxKeys: 20_000 });

  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", { parseAs: "string", bodyLimit: 4096 }, (_request, body, done) => done(null, body));
    scope.addHook("onRequest", (_request, reply, done) => {
      reply.headers({
        "cache-control": "no-store",
        "x-robots-tag": "noindex, nofollow",
        "referrer-policy": "no-referrer",
      });
      done();
    });
    scope.setErrorHandler((error, request, reply) => {
      const unavailability = unavailabilityOf(error);
      const status = unavailability ? 503 : statusOfError(error);
      if (unavailability) logUnavailability(request, error, unavailability);
      else if (status >= 500) request.log.error({ err: error }, "a direct link could not be followed");
      if (status === 503) reply.header("retry-after", String(UNAVAILABLE_RETRY_SECONDS));
      return sendPage(request, reply, status, { name: "unavailable" });
    });
    scope.route<{ Params: { code: string } }>({
      method: ["GET", "HEAD", "POST"],
      url: PATH,
      handler: async (request, reply) => {
        const { method, headers, ip } = request;
        const at = now();
        const { code } = request.params;
        const networks = clientNetworks(ip);
        const { client } = networks;
        const waitOfAddress = secondsToWait(visitsOfAddress, client, at);
        const seconds = Math.max(waitOfAddress, secondsToWait(visitsOfCode, `${client} ${code}`, at));
        if (seconds > 0) {
          reply.header("retry-after", String(seconds));
          return sendPage(request, reply, 429, { name: "too-many-visits", seconds });
        }
        const recognised = recognisePerson(agents, method, headers, ownUrl?.origin);
        const sentCookie = tapCookieIn(headers.cookie);
        const isForm = method === "POST" && recognised.kind === "person";
        const verdict = isForm
          ? judgeTap(acceptedKeys, tokenIn(request.body), { code, client, cookie: sentCookie }, at)
          : undefined;
        const { visitor, tap, page } = afterForm(recognised, verdict);
        const userAgent = headers["user-agent"] ?? "";
        const acceptLanguage = headers["accept-language"];
        const hashes = hashAddress(addressKey, networks, at);
        const country = countrySource?.(request);
        const visit = { code, visitor, tap, userAgent, acceptLanguage, country, hashes, now: at };
        const outcome = await followDirectLink(clicks, visit);
        // After a prefetch the browser must request the link again when its user really opens it.
        if (visitor.kind === "machine" && visitor.reason === "prefetch") return reply.code(204).send();
        if (outcome.outcome !== "tap-needed") return answer(request, reply, outcome, at);

        const path = `${basePath}/${code}`;
        const cookie = sentCookie ?? newTapCookie();
        const isSecure =
          request.protocol === "https" || (ownUrl?.protocol === "https:" && ownUrl.host === request.host);
        reply.header("set-cookie", setTapCookie(cookie, { path, isSecure }));
        // Browsers send the form's origin only under a policy that allows it.
        reply.header("referrer-policy", "same-origin");
        return sendPage(request, reply, statusOf["tap-needed"], {
          name: nameOfTapPage[page],
          bot: outcome.bot,
          form: { action: path, token: issueTapToken(tokenKey, { code, client, cookie }, page, at) },
        });
      },
    });
  });
}

/** The visitor as the posted form shows it, without a form as recognised, and the tap page that follows if a tap is needed. */
function afterForm(
  recognised: Visitor,
  verdict: TapVerdict | undefined,
): Pick<Visit, "visitor" | "tap"> & { page: TapPage } {
  switch (verdict?.outcome) {
    case undefined:
      return { visitor: recognised, tap: undefined, page: "first" };
    case "accepted":
      return { visitor: recognised, tap: verdict, page: "first" };
    case "refused":
      return { visitor: noToken, tap: undefined, page: verdict.next };
    default:
      return verdict satisfies never;
  }
}

const nameOfTapPage = { first: "tap-needed", second: "tap-again" } as const satisfies Record<TapPage, PageName>;

/** Posted without our page, or with a token that is too old or was issued to another browser at another address. */
const noToken: Visitor = { kind: "doubtful", reason: "no-token" };

function tokenIn(body: unknown): string | undefined {
  return typeof body === "string" ? (new URLSearchParams(body).get("token") ?? undefined) : undefined;
}

function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  outcome: Exclude<FollowOutcome, { outcome: "tap-needed" }>,
  now: Date,
): FastifyReply {
  const status = statusOf[outcome.outcome];
  switch (outcome.outcome) {
    case "landed":
      return reply.redirect(outcome.url, request.method === "POST" ? 303 : 302);
    case "limited": {
      const seconds = Math.max(1, Math.ceil((outcome.availableAt.getTime() - now.getTime()) / 1000));
      reply.header("retry-after", String(seconds));
      return sendPage(request, reply, status, { name: outcome.reason, bot: outcome.bot, seconds });
    }
    case "address-limit":
      return sendPage(request, reply, status, { name: outcome.outcome, bot: outcome.bot, onward: outcome.url });
    default:
      return sendPage(request, reply, status, {
        name: outcome.outcome,
        bot: "bot" in outcome ? outcome.bot : undefined,
      });
  }
}

function sendPage(request: FastifyRequest, reply: FastifyReply, status: number, page: Omit<LinkPage, "language">) {
  const language = pageLanguage(request.headers["accept-language"]);
  reply.headers({ "content-security-policy": linkPagePolicy, "content-language": language, vary: "accept-language" });
  return reply
    .code(status)
    .type("text/html; charset=utf-8")
    .send(linkPage({ ...page, language }));
}

function statusOfError(error: unknown): number {
  const status = error instanceof Error && "statusCode" in error ? error.statusCode : undefined;
  return typeof status === "number" && status >= 400 && status <= 599 ? status : 500;
}

const DAY_MS = 86_400_000;

/**
 * Hashes an address together with the UTC day and the key from the environment: equal addresses can be counted within a
 * day, and without the key they cannot even be guessed. Of IPv6 the first 64 bits count, since a household has the rest.
 * Yesterday's hash is for limits whose time began then; it is never stored beside today's.
 */
function hashAddress(key: string, { client, wider }: ClientNetworks, now: Date): AddressHashes {
  const today = utcDay(now);
  return {
    today: hashOf(key, `address ${today} ${client}`),
    yesterday: hashOf(key, `address ${utcDay(new Date(now.getTime() - DAY_MS))} ${client}`),
    network: hashOf(key, `network ${today} ${wider}`),
  };
}

/** 128 bits in hex. */
function hashOf(key: string, text: string): string {
  return createHmac("sha256", key).update(`direct link ${text}`).digest("hex").slice(0, 32);
}

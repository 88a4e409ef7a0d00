import { pageLanguage } from "@intermission/ad-core/page-language";
import { unavailabilityOf } from "@intermission/postgres/store-faults";
import { clientNetworks } from "@intermission/server/client-address";
import { countingFor } from "@intermission/server/counted-calls";
import { noteUnavailability, UNAVAILABLE_RETRY_SECONDS } from "@intermission/server/http-server";
import { type RateLimiter, rateLimiter, secondsToWait } from "@intermission/server/rate-limiter";
import { type KnownAgents, openKnownAgents, recognisePerson, type Visitor } from "@intermission/server/visitor";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { CountrySource } from "../viewers/country-source.ts";
import { type Clicks, type FollowOutcome, followDirectLink, type LinkBot } from "./follow-direct-link.ts";
import { type AddressKeys, hashAddress, openAddressKeys } from "./hash-address.ts";
import { type LinkPage, linkPage, linkPagePolicy } from "./link-page.ts";
import type { PageName } from "./page-texts/link-page-texts.ts";
import {
  issueTapToken,
  judgeTap,
  newTapCookie,
  setTapCookie,
  type TapPage,
  type TapVerdict,
  type TapVisit,
  tapCookieIn,
  tapTokenKey,
} from "./tap-token.ts";
import type { Visit } from "./visit.ts";

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

/** What following links needs, opened once. */
interface Links extends Pick<DirectLinkDeps, "clicks" | "countrySource"> {
  readonly now: () => Date;
  readonly ownUrl: URL | undefined;
  /** Of the links' address, without a slash at the end. */
  readonly basePath: string;
  readonly addressKeys: AddressKeys;
  /** Signs the tokens of tap pages. */
  readonly tokenKey: Buffer;
  readonly acceptedKeys: readonly Buffer[];
  readonly agents: KnownAgents;
  // In this process only: they protect the database from floods and decide no money. Many people may share an address.
  readonly visitsOfCode: RateLimiter;
  readonly visitsOfAddress: RateLimiter;
}

function openLinks(deps: DirectLinkDeps): Links {
  const { clicks, countrySource, encryptionKey: current, previousEncryptionKey: previous, directLinkUrl } = deps;
  // While the key is rotated, some nodes know only the previous one. So it is used until it is removed from the settings.
  const encryptionKey = previous ?? current;
  const tokenKey = tapTokenKey(encryptionKey);
  const ownUrl = directLinkUrl === undefined ? undefined : new URL(directLinkUrl);
  return {
    clicks,
    countrySource,
    now: deps.now ?? (() => new Date()),
    ownUrl,
    basePath: ownUrl?.pathname.replace(/\/+$/, "") ?? "",
    addressKeys: openAddressKeys(encryptionKey),
    tokenKey,
    acceptedKeys: previous === undefined ? [tokenKey] : [tokenKey, tapTokenKey(current)],
    agents: openKnownAgents(),
    visitsOfCode: rateLimiter({ quota: 20, windowSeconds: 100, maxKeys: 50_000 }),
    visitsOfAddress: rateLimiter({ quota: 500, windowSeconds: 25, maxKeys: 20_000 }),
  };
}

/** `GET|HEAD|POST /{code}` at the root of the direct links' address. */
export function directLinkRoutes(app: FastifyInstance, deps: DirectLinkDeps): void {
  const links = openLinks(deps);
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
      if (unavailability) noteUnavailability(request, reply, error, unavailability);
      else if (status >= 500) request.log.error({ err: error }, "a direct link could not be followed");
      if (status === 503) reply.header("retry-after", String(UNAVAILABLE_RETRY_SECONDS));
      return sendPage(request, reply, status, { name: "unavailable" });
    });
    scope.route<LinkRequest>({
      method: ["GET", "HEAD", "POST"],
      url: PATH,
      handler: (request, reply) => followLink(links, request, reply),
    });
  });
}

interface LinkRequest {
  Params: { code: string };
}

async function followLink(links: Links, request: FastifyRequest<LinkRequest>, reply: FastifyReply) {
  const { method, headers, ip } = request;
  const { code } = request.params;
  const now = links.now();
  const networks = clientNetworks(ip);
  const { client } = networks;
  const count = countingFor(request);
  const waitOfAddress = secondsToWait(count, links.visitsOfAddress, client, now);
  const seconds = Math.max(waitOfAddress, secondsToWait(count, links.visitsOfCode, `${client} ${code}`, now));
  if (seconds > 0) {
    reply.header("retry-after", String(seconds));
    return sendPage(request, reply, 429, { name: "too-many-visits", seconds });
  }
  const recognised = recognisePerson(links.agents, method, headers, links.ownUrl?.origin);
  const cookie = tapCookieIn(headers.cookie);
  const isForm = method === "POST" && recognised.kind === "person";
  const verdict = isForm
    ? judgeTap(links.acceptedKeys, tokenIn(request.body), { code, client, cookie }, now)
    : undefined;
  const { visitor, tap, page } = afterForm(recognised, verdict);
  const outcome = await followDirectLink(links.clicks, {
    code,
    visitor,
    tap,
    userAgent: headers["user-agent"] ?? "",
    acceptLanguage: headers["accept-language"],
    country: links.countrySource?.(request),
    hashes: hashAddress(links.addressKeys, networks, now),
    now,
  });
  // After a prefetch the browser must request the link again when its user really opens it.
  if (visitor.kind === "machine" && visitor.reason === "prefetch") return reply.code(204).send();
  if (outcome.outcome !== "tap-needed") return answer(request, reply, outcome, now);
  return sendTapPage(links, request, reply, { page, bot: outcome.bot, visit: { code, client, cookie }, now });
}

/** Sends the page with the one-tap button, whose form posts a token for this visitor. */
function sendTapPage(
  { ownUrl, basePath, tokenKey }: Links,
  request: FastifyRequest,
  reply: FastifyReply,
  { page, bot, visit, now }: { page: TapPage; bot: LinkBot; visit: TapVisit; now: Date },
) {
  const path = `${basePath}/${visit.code}`;
  const cookie = visit.cookie ?? newTapCookie();
  const isSecure = request.protocol === "https" || (ownUrl?.protocol === "https:" && ownUrl.host === request.host);
  reply.header("set-cookie", setTapCookie(cookie, { path, isSecure }));
  // Browsers send the form's origin only under a policy that allows it.
  reply.header("referrer-policy", "same-origin");
  const token = issueTapToken(tokenKey, { ...visit, cookie }, page, now);
  return sendPage(request, reply, statusOf["tap-needed"], {
    name: nameOfTapPage[page],
    bot,
    form: { action: path, token },
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

import type { Database } from "@intermission/postgres/open-database";
import { unavailabilityOf } from "@intermission/postgres/store-faults";
import { clientNetworks } from "@intermission/server/client-address";
import { logUnavailability, UNAVAILABLE_RETRY_SECONDS } from "@intermission/server/http-server";
import { pageLanguage } from "@intermission/server/page-language";
import { rateLimiter, secondsToWait } from "@intermission/server/rate-limiter";
import { recognisePerson, type Visitor } from "@intermission/server/visitor";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { CampaignSnapshot } from "../ad-selection/campaign-snapshot.ts";
import type { Deliveries } from "../deliveries/deliveries.ts";
import { directLinkFollower, type FollowOutcome } from "./follow-link.ts";
import { addressHasher } from "./follow-links.ts";
import { type LinkPage, linkPage, linkPagePolicy } from "./link-page.ts";
import { tapTokens } from "./tap-token.ts";

export interface DirectLinkDeps {
  database: Database;
  campaigns: CampaignSnapshot;
  deliveries: Deliveries;
  /** The key from the environment; the daily keys of the address hashes derive from it. */
  encryptionKey: Uint8Array;
  /** The public address of the links: a proxy may rewrite `Host`. */
  directLinkUrl?: string | undefined;
  /** Undefined: unlimited, since many people may share one address. */
  mostDailyClicksPerAddress?: number | undefined;
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

/** `GET|HEAD|POST /{code}` at the root of the direct links' address. */
export function directLinkRoutes(app: FastifyInstance, deps: DirectLinkDeps): void {
  const { encryptionKey, directLinkUrl, now = () => new Date() } = deps;
  const ownUrl = directLinkUrl === undefined ? undefined : new URL(directLinkUrl);
  const basePath = ownUrl?.pathname.replace(/\/+$/, "") ?? "";
  const tokens = tapTokens(encryptionKey);
  const follow = directLinkFollower({ ...deps, hashAddress: addressHasher(encryptionKey) });
  // In this process only: they protect the database from floods and decide no money. Many people may share an address.
  const visitsOfCode = rateLimiter({ quota: 20, windowSeconds: 100, mostKeys: 50_000 });
  const visitsOfAddress = rateLimiter({ quota: 500, windowSeconds: 25, mostKeys: 20_000 });

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
        const recognised = recognisePerson(method, headers, ownUrl?.origin);
        const visitOfForm = { code, client };
        const isForm = method === "POST" && recognised.kind === "person";
        const isTap = isForm && tokens.isValid(tokenIn(request.body), visitOfForm, at);
        const visitor = isForm && !isTap ? noToken : recognised;
        const userAgent = headers["user-agent"] ?? "";
        const acceptLanguage = headers["accept-language"];
        const visit = { code, visitor, isTap, userAgent, acceptLanguage, client: networks, now: at };
        const outcome = await follow(visit);
        // After a prefetch the browser must request the link again when its user really opens it.
        if (visitor.kind === "machine" && visitor.reason === "prefetch") return reply.code(204).send();
        const form = { action: `${basePath}/${code}`, token: () => tokens.issue(visitOfForm, at) };
        return answer(request, reply, outcome, { now: at, form });
      },
    });
  });
}

/** Posted without our page, or with a token that is too old or was issued to another address. */
const noToken: Visitor = { kind: "doubtful", reason: "no-token" };

function tokenIn(body: unknown): string | undefined {
  return typeof body === "string" ? (new URLSearchParams(body).get("token") ?? undefined) : undefined;
}

function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  outcome: FollowOutcome,
  { now, form }: { now: Date; form: { action: string; token: () => string } },
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
    case "tap-needed":
      // Browsers send the form's origin only under a policy that allows it.
      reply.header("referrer-policy", "same-origin");
      return sendPage(request, reply, status, {
        name: outcome.outcome,
        bot: outcome.bot,
        form: { action: form.action, token: form.token() },
      });
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

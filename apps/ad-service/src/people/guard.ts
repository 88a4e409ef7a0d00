import { type Access, FRESH_SIGN_IN_MINUTES, type Grant, readerOfRole } from "@intermission/operator-api/access";
import { fieldFault } from "@intermission/operator-api/field-forms";
import { isRouteName, operatorRoutes } from "@intermission/operator-api/operator-routes";
import type { ReportReader } from "@intermission/operator-api/report-figures";
import type { Person } from "@intermission/operator-api/session";
import type { Database } from "@intermission/postgres/open-database";
import { addressNetwork } from "@intermission/server/client-address";
import type { TokenGuard } from "@intermission/server/guard-token";
import { HttpError } from "@intermission/server/http-server";
import { type RateLimiter, slowDown } from "@intermission/server/rate-limiter";
import { invalidField, notFound, refusal } from "@intermission/server/refuse";
import type { FastifyRequest } from "fastify";
import { findAdvertiser, unknownAdvertiser } from "../advertisers/advertisers.ts";
import { unknownBot } from "../bots/bots.ts";
import { findCampaign, unknownCampaign } from "../campaigns/campaigns.ts";
import { findCreative, unknownCreative } from "../creatives/creatives.ts";
import { findBotOfEvent, unknownEvent } from "../deliveries/read-deliveries.ts";
import { findPersonId } from "./people.ts";
import { findSession, type Session, tokenInCookies } from "./sessions.ts";

/** Who calls the operator's API. The command line has the socket of the data folder, or OPERATOR_TOKEN. */
export type OperatorCaller = { kind: "command-line" } | { kind: "person"; session: Session } | { kind: "anonymous" };

declare module "fastify" {
  interface FastifyRequest {
    /** Set by `authenticateOperator`; read it with `operatorOf`. */
    operator: OperatorCaller | undefined;
  }
}

export interface OperatorGuard {
  database: Database;
  /** Whether the request came through the socket in the data folder, which only the server's own user can open. */
  isTrusted: (request: FastifyRequest) => boolean;
  /** Undefined: OPERATOR_TOKEN is not set. */
  guardToken: TokenGuard | undefined;
  /** Limits wrong session cookies by address (an IPv6 /64). */
  wrongCookies: RateLimiter;
  /** The origins of the pages that may send a session's cookie, the console's own first. */
  origins: readonly string[];
  now: () => Date;
}

/** Identifies the caller; throws 401, 404 or 429 if it has no valid credentials. Call it before the request is parsed. */
export async function authenticateOperator(guard: OperatorGuard, request: FastifyRequest): Promise<OperatorCaller> {
  if (guard.isTrusted(request)) return { kind: "command-line" };
  const cookie = tokenInCookies(request.headers.cookie);
  const isPublic = accessRule(request) === "anyone";
  if (isPublic || cookie !== undefined) requireOrigin(request, { origins: guard.origins, isOptional: isPublic });
  if (isPublic) return { kind: "anonymous" };
  if (request.headers.authorization === undefined && cookie !== undefined) {
    const session = await findSession(guard.database, cookie, guard.now());
    if (session !== undefined) return { kind: "person", session };
    const { isAllowed, waitSeconds } = guard.wrongCookies.take(addressNetwork(request.ip), guard.now().getTime());
    throw isAllowed ? refusal(401, "SIGNED_OUT", "the session has ended: sign in again") : slowDown(waitSeconds);
  }
  if (guard.guardToken === undefined) throw notFound("there is nothing at this path");
  guard.guardToken(request);
  return { kind: "command-line" };
}

/**
 * Whether a person opened an address without a session, such as the link of a statement after the session had ended. Browsers
 * name such requests (Fetch Metadata); the console's own and those of programs are answered with the error.
 */
export function needsSignIn({ method, headers }: FastifyRequest, error: unknown): boolean {
  const isRefusal = error instanceof HttpError && (error.statusCode === 401 || error.statusCode === 404);
  return isRefusal && method === "GET" && headers["sec-fetch-mode"] === "navigate";
}

/**
 * A page of another origin must not send requests with this cookie (CSRF). Browsers name the origin of every request that may
 * change something, and the cookie is SameSite=Strict besides. Without a cookie, a program may leave it out.
 */
function requireOrigin(
  request: FastifyRequest,
  { origins, isOptional }: Pick<OperatorGuard, "origins"> & { isOptional: boolean },
): void {
  if (isRead(request)) return;
  const sentOrigin = request.headers.origin;
  if (sentOrigin === undefined ? isOptional : origins.includes(sentOrigin)) return;
  throw refusal(403, "OTHER_ORIGIN", `requests with a session come from pages of ${origins[0]} only`);
}

/** Routes of these methods change nothing. */
function isRead({ method }: FastifyRequest): boolean {
  return method === "GET" || method === "HEAD";
}

export function operatorOf({ operator, routeOptions }: FastifyRequest): OperatorCaller {
  if (operator === undefined) throw new Error(`${routeOptions.url} is reached without authentication`);
  return operator;
}

/** The session of a request whose route needs one. */
export function sessionOf(request: FastifyRequest): Session {
  const operator = operatorOf(request);
  if (operator.kind !== "person") throw new Error("a route of a session was reached without one");
  return operator.session;
}

/** The id and name of who has signed in, in the audit trail; undefined while a person signs in. */
export function actorOf(request: FastifyRequest): { id: string; name: string } | undefined {
  const operator = operatorOf(request);
  if (operator.kind === "anonymous") return undefined;
  if (operator.kind === "command-line") return { id: "command-line", name: "command-line" };
  const { person, impersonation } = operator.session;
  const { personId, email } = impersonation?.by ?? person;
  return { id: personId, name: email };
}

export function reportReaderOf(request: FastifyRequest): ReportReader {
  const operator = operatorOf(request);
  switch (operator.kind) {
    case "command-line":
      return "staff";
    case "person":
      return readerOfRole[operator.session.person.role];
    case "anonymous":
      throw new Error(`${request.routeOptions.url} was reached without authentication`);
  }
}

/** The id of the person whose own things a request is about: of who calls, or whom the command line names. */
export async function ownerOf(
  { database }: Pick<OperatorGuard, "database">,
  request: FastifyRequest,
  email: string | undefined,
): Promise<string> {
  const operator = operatorOf(request);
  if (operator.kind === "person") {
    if (email === undefined) return operator.session.person.personId;
    throw invalidField(
      "email",
      "is for the command line: a session has what is its person's own",
      fieldFault("OPERATOR_ONLY"),
    );
  }
  if (operator.kind === "anonymous") throw refusal(401, "SIGNED_OUT", "sign in first");
  if (email === undefined) throw invalidField("email", "is needed: of whose reports?", fieldFault("MISSING"));
  const personId = await findPersonId(database, email);
  if (personId === undefined) throw notFound(`nobody has the e-mail address ${email}; see all with: people list`);
  return personId;
}

/** The id of the person who calls; undefined: the command line, which is nobody. */
export function signedInOf(request: FastifyRequest): string | undefined {
  const operator = operatorOf(request);
  return operator.kind === "person" ? operator.session.person.personId : undefined;
}

/** The advertiser of a caller who is one of an advertiser's people. */
export function submitterOf(request: FastifyRequest): string | undefined {
  const operator = operatorOf(request);
  return operator.kind === "person" ? (operator.session.person.advertiserId ?? undefined) : undefined;
}

/** What a decision compares: the objects that the request names. Undefined: it names none of the kind, or an unknown one. */
interface NamedObjects {
  botIds: readonly string[];
  /** The bot of the event; null if there is no such event. */
  botOfEvent: string | null | undefined;
  /** The ids of the advertisers of the campaigns; null for an unknown campaign. */
  advertisersOfCampaigns: readonly (string | null)[];
  /** The ids of the advertisers of the creatives; null for an unknown or the operator's. */
  advertisersOfCreatives: readonly (string | null)[];
  /** Ids; null for an unknown advertiser. */
  advertisers: readonly (string | null)[];
}

type AccessDecision = "allowed" | "forbidden" | "not-named" | "foreign";

/** Whether a person may make a request. A foreign object is answered as one that does not exist. */
function decideAccess(
  rule: Access,
  { role, botIds, advertiserId }: Pick<Person, "role" | "botIds" | "advertiserId">,
  named: NamedObjects,
): AccessDecision {
  // Each by name: another word of who may is a type error at the next line, and never a grant.
  if (rule === "anyone" || rule === "signed-in" || rule === "freshly-signed-in" || rule === "of-a-person")
    return "allowed";
  const grant: Grant | undefined = rule[role];
  const allOwn = (objects: readonly (string | null)[], isOwn: (object: string | null) => boolean): AccessDecision => {
    if (objects.length === 0) return "not-named";
    return objects.every(isOwn) ? "allowed" : "foreign";
  };
  const isOwnBot = (botId: string | null) => botId !== null && botIds.includes(botId);
  const isOwnAdvertiser = (id: string | null) => id !== null && id === advertiserId;
  switch (grant) {
    case undefined:
      return "forbidden";
    case "all":
      return "allowed";
    case "own-bot":
      return allOwn(named.botIds, isOwnBot);
    case "own-event":
      return allOwn(named.botOfEvent === undefined ? [] : [named.botOfEvent], isOwnBot);
    case "own-campaign":
      // What is attached to it has to be an own one, too.
      if (!named.advertisersOfCreatives.every(isOwnAdvertiser)) return "foreign";
      return allOwn(named.advertisersOfCampaigns, isOwnAdvertiser);
    case "own-creative":
      return allOwn(named.advertisersOfCreatives, isOwnAdvertiser);
    case "own-advertiser":
      // The cursor of a list names a campaign or a creative.
      if (![...named.advertisersOfCampaigns, ...named.advertisersOfCreatives].every(isOwnAdvertiser)) return "foreign";
      return allOwn(named.advertisers, isOwnAdvertiser);
  }
}

/** Throws 403 or 404 for a request that its caller may not make. Call it once the request is checked by its schemas. */
export async function authorizeOperator(
  { database, now }: Pick<OperatorGuard, "database" | "now">,
  request: FastifyRequest,
): Promise<void> {
  const caller = operatorOf(request);
  const rule = accessRule(request);
  if (rule === undefined) throw new Error(`${request.routeOptions.url} has no rule of access`);
  if (rule === "anyone") return;
  if (caller.kind === "command-line") {
    if (rule !== "signed-in" && rule !== "freshly-signed-in") return;
    throw refusal(403, "NO_SESSION", "this needs the session of a person, which the command line has not");
  }
  if (caller.kind === "anonymous") throw refusal(401, "SIGNED_OUT", "sign in first");
  const { person, impersonation } = caller.session;
  if (impersonation !== undefined && !isRead(request) && request.routeOptions.config.operation !== "endImpersonation") {
    throw refusal(403, "READ_ONLY", `you see the console as ${person.email}, only to read: end that first`);
  }
  if (rule === "freshly-signed-in" && !isFresh(caller.session, now())) throw signInAgain();
  const values = namedIn(request);
  const decision = decideAccess(rule, person, await readNamed(database, values));
  switch (decision) {
    case "allowed":
      return;
    case "foreign":
      throw unknown(values);
    case "not-named": {
      const own = person.role === "publisher" ? "a bot of yours (botId)" : "your advertiser";
      throw refusal(403, "FORBIDDEN", `name ${own}`);
    }
    case "forbidden":
      throw refusal(403, "FORBIDDEN", `the role ${person.role} may not do this`);
    default:
      throw decision satisfies never;
  }
}

export function isFresh({ signedInAt }: Pick<Session, "signedInAt">, now: Date): boolean {
  return now.getTime() - signedInAt.getTime() <= FRESH_SIGN_IN_MINUTES * 60_000;
}

export function signInAgain(): HttpError {
  const message = `this needs a sign-in of the last ${FRESH_SIGN_IN_MINUTES} minutes: sign in again, then repeat it`;
  return refusal(403, "SIGN_IN_AGAIN", message);
}

function accessRule({ routeOptions }: FastifyRequest): Access | undefined {
  const name = routeOptions.config.operation;
  return name !== undefined && isRouteName(name) ? operatorRoutes[name].access : undefined;
}

type NamedFields = Partial<Record<"botId" | "eventId" | "campaignId" | "creativeId" | "advertiser" | "after", string>>;

/** Fields of the path go before those of the query, in which the same name would be another object. */
function namedIn({ params, query }: FastifyRequest): { fields: NamedFields[]; first: NamedFields } {
  const fields = [params, query].map((part) => (part ?? {}) as NamedFields);
  return { fields, first: { ...fields[1], ...fields[0] } };
}

async function readNamed(database: Database, { fields }: ReturnType<typeof namedIn>): Promise<NamedObjects> {
  const all = (name: keyof NamedFields) => fields.flatMap((part) => part[name] ?? []);
  const [eventId] = all("eventId");
  const isCreative = (cursor: string) => cursor.startsWith("cre_");
  const isCampaign = (cursor: string) => cursor.startsWith("cmp_");
  const campaignIds = [...all("campaignId"), ...all("after").filter(isCampaign)];
  const creativeIds = [...all("creativeId"), ...all("after").filter(isCreative)];
  const creatives = await Promise.all(creativeIds.map((creativeId) => findCreative(database, creativeId)));
  const campaigns = await Promise.all(campaignIds.map((campaignId) => findCampaign(database, campaignId)));
  const advertisers = await Promise.all(all("advertiser").map((nameOrId) => findAdvertiser(database, nameOrId)));
  return {
    botIds: all("botId"),
    botOfEvent: eventId === undefined ? undefined : ((await findBotOfEvent(database, eventId)) ?? null),
    advertisersOfCampaigns: campaigns.map((campaign) => campaign?.advertiserId ?? null),
    advertisersOfCreatives: creatives.map((creative) => creative?.advertiserId ?? null),
    advertisers: advertisers.map((advertiser) => advertiser?.advertiserId ?? null),
  };
}

function unknown({ first }: ReturnType<typeof namedIn>): HttpError {
  const { botId, eventId, campaignId, creativeId, after, advertiser } = first;
  if (eventId !== undefined) return unknownEvent(eventId);
  if (botId !== undefined) return unknownBot(botId);
  const creative = creativeId ?? (after?.startsWith("cre_") ? after : undefined);
  if (creative !== undefined) return unknownCreative(creative);
  const campaign = campaignId ?? after;
  if (campaign !== undefined) return unknownCampaign(campaign);
  return unknownAdvertiser(advertiser ?? "");
}

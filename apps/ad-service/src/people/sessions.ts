import { rolesSeenBy } from "@intermission/operator-api/access";
import { routesOf } from "@intermission/operator-api/operator-routes";
import type { Person } from "@intermission/operator-api/session";
import { type Author, changeAudited } from "@intermission/postgres/audit";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import { addressNetwork } from "@intermission/server/client-address";
import type { FastifyReply, FastifyRequest } from "fastify";
import { browserName } from "./browser-name.ts";
import { findPerson, hashOfToken, newToken, selectPerson } from "./people.ts";

const HOUR_MS = 3_600_000;
const LIFETIME_MS = 7 * 24 * HOUR_MS;
const IDLE_MS = 24 * HOUR_MS;
/** Of one person: the next one ends the one that was used longest ago. */
export const MAX_SESSIONS = 50;
/** How often a session in use is written. */
const TOUCH_MS = 5 * 60_000;

const NAME = "__Host-operator";

export interface Session {
  /** Whose rights requests have. */
  person: Person;
  /** Set while another signed-in person sees the console as this person: such a session only reads. */
  impersonation: { by: Person; until: Date } | undefined;
  tokenHash: Buffer;
  /** When the person last proved who they are, in whatever way; use of the session does not change it. */
  signedInAt: Date;
  expiresAt: Date;
}

const insert = statement<never>(
  "people.insert-session",
  `insert into person_sessions (token_hash, person_id, created_at, last_used_at, expires_at, browser) values ($1, $2, $3, $3, $4, $5)`,
);
const removeOld = statement<never>(
  "people.remove-old-sessions",
  `delete from person_sessions where person_id = $1 and (expires_at <= $2 or last_used_at <= $3 or token_hash in
     (select token_hash from person_sessions where person_id = $1 order by last_used_at desc offset ${MAX_SESSIONS - 1}))`,
);

const endOne = statement<{ one: number }>(
  "people.end-session",
  "delete from person_sessions where token_hash = $1 returning 1 as one",
);

/** Of a request that signs in. */
export interface Browser {
  /** The token that its cookie has. */
  cookieToken: string | undefined;
  name: string;
  network: string;
}

export function browserOf({ headers, ip }: FastifyRequest): Browser {
  const name = browserName(headers["user-agent"]);
  return { cookieToken: tokenInCookies(headers.cookie), name, network: addressNetwork(ip) };
}

/** Opens a session with a new token, and ends the one that the browser had, so that a token that an attacker planted (session fixation) is void. */
export async function openSession(
  tx: Transaction,
  { personId, browser, now }: { personId: string; browser?: Browser; now: Date },
): Promise<{ token: string; expiresAt: Date }> {
  const token = newToken();
  const expiresAt = new Date(now.getTime() + LIFETIME_MS);
  if (browser?.cookieToken !== undefined) await tx.run(endOne, [hashOfToken(browser.cookieToken)]);
  await tx.run(removeOld, [personId, now, idleSince(now)]);
  await tx.run(insert, [hashOfToken(token), personId, now, expiresAt, browser?.name ?? ""]);
  return { token, expiresAt };
}

interface FoundSession extends Person {
  signedInAt: Date;
  expiresAt: Date;
  lastUsedAt: Date;
  impersonatedId: string | null;
  impersonatedUntil: Date | null;
}

const find = statement<FoundSession>(
  "people.find-session",
  `select person.*, person_sessions.created_at as "signedInAt", expires_at as "expiresAt", last_used_at as "lastUsedAt", impersonated_id as "impersonatedId",
     impersonated_until as "impersonatedUntil"
   from person_sessions join (${selectPerson}) as person on person."personId" = person_sessions.person_id
   where token_hash = $1 and expires_at > $2 and last_used_at > $3 and not "isDisabled"`,
);
const touch = statement<never>(
  "people.touch-session",
  "update person_sessions set last_used_at = $2 where token_hash = $1 and last_used_at < $2",
);

/** The session of a cookie's token; undefined if it ended, was idle for a day, or its person was disabled. */
export async function findSession(database: Database, token: string, now: Date): Promise<Session | undefined> {
  const tokenHash = hashOfToken(token);
  const [row] = await database.run(find, [tokenHash, now, idleSince(now)]);
  if (row === undefined) return undefined;
  const { signedInAt, expiresAt, lastUsedAt, impersonatedId, impersonatedUntil, ...signedIn } = row;
  if (now.getTime() - lastUsedAt.getTime() > TOUCH_MS) await database.run(touch, [tokenHash, now]);
  const own = { person: signedIn, impersonation: undefined, tokenHash, signedInAt, expiresAt };
  if (impersonatedId === null || impersonatedUntil === null || impersonatedUntil <= now) return own;
  const person = await findPerson(database, impersonatedId);
  // Roles may have changed since it began.
  if (person === undefined || person.isDisabled || !rolesSeenBy[signedIn.role].includes(person.role)) return own;
  return { ...own, person, impersonation: { by: signedIn, until: impersonatedUntil } };
}

export async function endSession(
  database: Database,
  { tokenHash, person, author }: Pick<Session, "tokenHash" | "person"> & { author: Author },
): Promise<number> {
  const objectId = person.personId;
  const ended = await changeAudited(database, { objectId, author }, { statement: endOne, values: [tokenHash] });
  return ended === undefined ? 0 : 1;
}

export function idleSince(now: Date): Date {
  return new Date(now.getTime() - IDLE_MS);
}

/** What signing in answers, in any way: the session's cookie, and what its person may use. */
export function answerSignIn(
  { person, token, expiresAt }: { person: Person; token: string; expiresAt: Date },
  answer: Pick<FastifyReply, "header">,
) {
  answer.header("set-cookie", cookieOf(token, expiresAt));
  return { person, expiresAt, routes: routesOf(person.role) };
}

/** `__Host-`: the browser takes it only from this host, over TLS or from localhost, and never from a sibling domain. */
function cookieOf(token: string, expiresAt: Date): string {
  return `${NAME}=${token}; Path=/; Expires=${expiresAt.toUTCString()}; Secure; HttpOnly; SameSite=Strict`;
}

export const endedCookie = `${NAME}=; Path=/; Max-Age=0; Secure; HttpOnly; SameSite=Strict`;

const pattern = new RegExp(`(?:^|;) *${NAME}=([\\w-]{43}) *(?:;|$)`);

/** The token in a request's cookies. */
export function tokenInCookies(header: string | undefined): string | undefined {
  return pattern.exec(header ?? "")?.[1];
}

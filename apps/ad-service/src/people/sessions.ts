import type { Person } from "@intermission/operator-api/people";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import { hashOfToken, newToken, selectPerson } from "./people.ts";

const HOUR_MS = 3_600_000;
const LIFETIME_MS = 7 * 24 * HOUR_MS;
const IDLE_MS = 24 * HOUR_MS;
/** How often a session in use is written. */
const TOUCH_MS = 5 * 60_000;

const NAME = "__Host-operator";

export interface Session {
  person: Person;
  tokenHash: Buffer;
  expiresAt: Date;
}

const insert = statement<never>(
  "people.insert-session",
  `insert into person_sessions (token_hash, person_id, created_at, last_used_at, expires_at) values ($1, $2, $3, $3, $4)`,
);
const removeOld = statement<never>(
  "people.remove-old-sessions",
  "delete from person_sessions where person_id = $1 and (expires_at <= $2 or last_used_at <= $3)",
);

const endOne = statement<{ one: number }>(
  "people.end-session",
  "delete from person_sessions where token_hash = $1 returning 1 as one",
);
/** Opens a session with a new token, and ends the one that the browser had, so that a token that an attacker planted (session fixation) is void. */
export async function openSession(
  tx: Transaction,
  { personId, replaced, now }: { personId: string; replaced?: Buffer | undefined; now: Date },
): Promise<{ token: string; expiresAt: Date }> {
  const token = newToken();
  const expiresAt = new Date(now.getTime() + LIFETIME_MS);
  if (replaced !== undefined) await tx.run(endOne, [replaced]);
  await tx.run(removeOld, [personId, now, idleSince(now)]);
  await tx.run(insert, [hashOfToken(token), personId, now, expiresAt]);
  return { token, expiresAt };
}

const find = statement<Person & { expiresAt: Date; lastUsedAt: Date }>(
  "people.find-session",
  `select person.*, expires_at as "expiresAt", last_used_at as "lastUsedAt"
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
  const { expiresAt, lastUsedAt, ...person } = row;
  if (now.getTime() - lastUsedAt.getTime() > TOUCH_MS) await database.run(touch, [tokenHash, now]);
  return { person, tokenHash, expiresAt };
}

export async function endSession(database: Database, { tokenHash }: Pick<Session, "tokenHash">): Promise<number> {
  return (await database.run(endOne, [tokenHash])).length;
}

function idleSince(now: Date): Date {
  return new Date(now.getTime() - IDLE_MS);
}

/** `__Host-`: the browser takes it only from this host, over TLS or from localhost, and never from a sibling domain. */
export function cookieOf(token: string, expiresAt: Date): string {
  return `${NAME}=${token}; Path=/; Expires=${expiresAt.toUTCString()}; Secure; HttpOnly; SameSite=Strict`;
}

export const endedCookie = `${NAME}=; Path=/; Max-Age=0; Secure; HttpOnly; SameSite=Strict`;

const pattern = new RegExp(`(?:^|;) *${NAME}=([\\w-]{43}) *(?:;|$)`);

/** The token in a request's cookies. */
export function tokenInCookies(header: string | undefined): string | undefined {
  return pattern.exec(header ?? "")?.[1];
}

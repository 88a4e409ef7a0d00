import { createHash, randomBytes } from "node:crypto";
import type { Person, Role } from "@intermission/operator-api/people";
import { type ListPage, listPage } from "@intermission/postgres/keyset";
import { type Database, type Statement, statement, type Transaction } from "@intermission/postgres/open-database";
import { nameChangedObject } from "@intermission/postgres/recorded-changes";
import { notFound } from "@intermission/server/refuse";
import type { SecretBox } from "@intermission/server/secret-box";
import bs58 from "bs58";
import { findAdvertiser } from "../advertisers/advertisers.ts";
import { newTotpSecret } from "./totp.ts";

const INVITATION_MS = 3 * 24 * 3_600_000;

/** Selects `Person` from `people`. */
export const selectPerson = `select person_id as "personId", email, role, advertiser_id as "advertiserId",
    (select name from advertisers where advertisers.advertiser_id = people.advertiser_id) as advertiser, bot_ids as "botIds",
    is_disabled as "isDisabled", array_remove(array[
      case when password_hash is not null then 'password' end,
      case when exists (select from person_passkeys where person_passkeys.person_id = people.person_id) then 'passkey' end,
      case when exists (select from person_identities where person_identities.person_id = people.person_id) then 'openid' end
    ], null) as "signInMethods", created_at as "createdAt"
  from people`;
const find = statement<Person>("people.find", `${selectPerson} where person_id = $1`);
// Unnamed, since an owner runs it rarely, and its plan depends on the filter.
const list: Statement<Person> = {
  name: "",
  text: `${selectPerson} where ($1::text is null or email > (select last.email from people as last where last.person_id = $1))
     and ($3::text is null or role = $3)
   order by email limit $2`,
};

export async function listPeople(
  database: Database,
  of: { after?: string | undefined; limit: number; role?: Role | undefined },
): Promise<ListPage<Person>> {
  const rows = await database.run(list, [of.after, of.limit + 1, of.role]);
  return listPage(rows, of.limit, ({ personId }) => personId);
}

/** 32 random bytes; the database holds only their hash. */
export function newToken(): string {
  return randomBytes(32).toString("base64url");
}

export function hashOfToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

const endAll = statement<{ one: number }>(
  "people.end-sessions",
  "delete from person_sessions where person_id = $1 returning 1 as one",
);

export async function endSessionsOf(tx: Pick<Transaction, "run">, personId: string): Promise<number> {
  return (await tx.run(endAll, [personId])).length;
}

export interface Invitation {
  email: string;
  role: Role;
  advertiser?: string | undefined;
  botIds?: string[] | undefined;
}

export type InviteOutcome =
  | { outcome: "invited"; person: Person; token: string; expiresAt: Date }
  | { outcome: "unknown-advertiser" }
  | { outcome: "known-email" };

const insert = statement<never>(
  "people.insert",
  `insert into people (person_id, email, role, advertiser_id, bot_ids, totp_secret, invitation_hash, invitation_expires_at, created_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (email) do nothing`,
);

/** Adds a person who can do nothing until the invitation is accepted. The bots must exist. */
export async function invitePerson(
  { database, secretBox }: { database: Database; secretBox: SecretBox },
  { personId, invitation, now }: { personId: string; invitation: Invitation; now: Date },
): Promise<InviteOutcome> {
  const { email, role, advertiser: named, botIds = [] } = invitation;
  const { token, expiresAt } = newInvitation(now);
  return database.transaction<InviteOutcome>(async (tx) => {
    const advertiser = named === undefined ? null : await findAdvertiser(tx, named);
    if (advertiser === undefined) return { outcome: "unknown-advertiser" };
    const secret = secretBox.seal(newTotpSecret(), personId);
    await tx.run(insert, [
      personId,
      email,
      role,
      advertiser?.advertiserId,
      botIds,
      secret,
      hashOfToken(token),
      expiresAt,
      now,
    ]);
    const person = await findPerson(tx, personId);
    return person ? { outcome: "invited", person, token, expiresAt } : { outcome: "known-email" };
  });
}

export function newPersonId(): string {
  return `per_${bs58.encode(randomBytes(9))}`;
}

const renew = statement<never>(
  "people.renew-invitation",
  `with passkeys as (delete from person_passkeys where person_id = $1),
   identities as (delete from person_identities where person_id = $1)
   update people set password_hash = null, totp_secret = $2, totp_step = 0, invitation_hash = $3, invitation_expires_at = $4
   where person_id = $1`,
);

/** Ends the password, the authenticator's secret, passkeys, linked accounts and all sessions. Undefined: there is no such person. */
export async function renewInvitation(
  { database, secretBox }: { database: Database; secretBox: SecretBox },
  { personId, now }: { personId: string; now: Date },
): Promise<{ person: Person; token: string; expiresAt: Date } | undefined> {
  const { token, expiresAt } = newInvitation(now);
  return database.transaction(async (tx) => {
    await tx.run(renew, [personId, secretBox.seal(newTotpSecret(), personId), hashOfToken(token), expiresAt]);
    await endSessionsOf(tx, personId);
    const person = await findPerson(tx, personId);
    return person && { person, token, expiresAt };
  });
}

const SIGN_IN_LINK_MS = 3_600_000;

const setSignInLink = statement<{ personId: string }>(
  "people.set-sign-in-link",
  `update people set sign_in_hash = $2, sign_in_expires_at = $3 where email = $1 and not is_disabled
   returning person_id as "personId"`,
);

/** Makes a link that signs a person in once; an earlier one is void. Undefined: no person with this address may sign in. */
export async function createSignInLink(
  database: Database,
  { email, now }: { email: string; now: Date },
): Promise<{ person: Person; token: string; expiresAt: Date } | undefined> {
  const token = newToken();
  const expiresAt = new Date(now.getTime() + SIGN_IN_LINK_MS);
  return database.transaction(async (tx) => {
    const [found] = await tx.run(setSignInLink, [email, hashOfToken(token), expiresAt]);
    if (found === undefined) return undefined;
    nameChangedObject(found.personId);
    const person = await findPerson(tx, found.personId);
    return person && { person, token, expiresAt };
  });
}

const setRole = statement<never>(
  "people.set-role",
  "update people set role = $2, advertiser_id = $3, bot_ids = $4 where person_id = $1",
);

export type ChangeRoleOutcome =
  | { outcome: "changed"; person: Person }
  | { outcome: "unknown-advertiser" }
  | { outcome: "unknown-person" };

/** What the person has open of others' objects ends with the sessions, in the same commit. The bots must exist. */
export async function changeRole(
  database: Database,
  { personId, role, advertiser: named, botIds = [] }: Omit<Invitation, "email"> & { personId: string },
): Promise<ChangeRoleOutcome> {
  return database.transaction<ChangeRoleOutcome>(async (tx) => {
    const advertiser = named === undefined ? null : await findAdvertiser(tx, named);
    if (advertiser === undefined) return { outcome: "unknown-advertiser" };
    await tx.run(setRole, [personId, role, advertiser?.advertiserId, botIds]);
    await endSessionsOf(tx, personId);
    const person = await findPerson(tx, personId);
    return person ? { outcome: "changed", person } : { outcome: "unknown-person" };
  });
}

const setDisabled = statement<never>("people.set-disabled", "update people set is_disabled = $2 where person_id = $1");

/** A disabled person's sessions end in the same commit. Undefined: there is no such person. */
export async function disablePerson(database: Database, personId: string): Promise<Person | undefined> {
  return database.transaction(async (tx) => {
    await tx.run(setDisabled, [personId, true]);
    await endSessionsOf(tx, personId);
    return findPerson(tx, personId);
  });
}

export async function enablePerson(database: Database, personId: string): Promise<Person | undefined> {
  return database.transaction(async (tx) => {
    await tx.run(setDisabled, [personId, false]);
    return findPerson(tx, personId);
  });
}

export async function findPerson(tx: Pick<Transaction, "run">, personId: string): Promise<Person | undefined> {
  return (await tx.run(find, [personId]))[0];
}

export function unknownPerson(personId: string) {
  return notFound(`there is no person ${personId}; see all with: people list`);
}

function newInvitation(now: Date): { token: string; expiresAt: Date } {
  return { token: newToken(), expiresAt: new Date(now.getTime() + INVITATION_MS) };
}

import { createHash, randomBytes } from "node:crypto";
import type { Role } from "@intermission/operator-api/access";
import type { Person } from "@intermission/operator-api/session";
import type { StatementLanguage } from "@intermission/operator-api/statement-languages";
import { type Author, audit, openChange } from "@intermission/postgres/audit";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import { hasVersion, nextVersion } from "@intermission/postgres/row-version";
import { notFound } from "@intermission/server/refuse";
import type { SecretBox } from "@intermission/server/secret-box";
import bs58 from "bs58";
import { findAdvertiser } from "../advertisers/advertisers.ts";
import { type ChangingSession, holdAccounts } from "./hold-accounts.ts";
import { newTotpSecret } from "./totp.ts";

const INVITATION_MS = 3 * 24 * 3_600_000;

/** Selects `Person` from `people`. */
export const selectPerson = `select person_id as "personId", email, role, advertiser_id as "advertiserId",
    (select name from advertisers where advertisers.advertiser_id = people.advertiser_id) as advertiser, bot_ids as "botIds",
    is_disabled as "isDisabled", array_remove(array[
      case when password_hash is not null then 'password' end,
      case when exists (select from person_passkeys where person_passkeys.person_id = people.person_id) then 'passkey' end,
      case when exists (select from person_identities where person_identities.person_id = people.person_id) then 'openid' end
    ], null) as "signInMethods",
    exists (select from person_sessions where person_sessions.person_id = people.person_id) as "isSignedIn", created_at as "createdAt", updated_at as "updatedAt"
  from people`;
const find = statement<Person>("people.find", `${selectPerson} where person_id = $1`);
/** 32 random bytes; the database holds only their hash. */
export function newToken(): string {
  return randomBytes(32).toString("base64url");
}

export function hashOfToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

const endAll = statement<{ one: number }>(
  "people.end-sessions",
  `with links as (update people set sign_in_hash = null, sign_in_expires_at = null where person_id = $1)
   delete from person_sessions where person_id = $1 returning 1 as one`,
);

/** Ends the sessions, and the links that would open one. Returns how many sessions there were. */
async function endSessionsOf(tx: Pick<Transaction, "run">, personId: string): Promise<number> {
  return (await tx.run(endAll, [personId])).length;
}

const voidEmailChanges = statement<never>(
  "people.void-email-changes",
  "update person_email_changes set state = 'void' where person_id = $1 and state in ('requested', 'made')",
);

const voidEmailRequests = statement<never>(
  "people.void-email-requests",
  "update person_email_changes set state = 'void' where person_id = $1 and state = 'requested'",
);

/** Whether a statement has failed since a person with the e-mail address exists. */
export function isEmailTaken(error: unknown): boolean {
  return (
    error instanceof Error &&
    "code" in error &&
    error.code === "23505" &&
    "constraint" in error &&
    error.constraint === "people_email_key"
  );
}

/** A person signs out of all browsers. Returns how many sessions there were. */
export async function signOutEverywhere(
  database: Database,
  { personId, author }: { personId: string; author: Author },
): Promise<number> {
  return database.transaction(async (tx) => {
    const change = await openChange(tx, author, personId);
    const ended = await endSessionsOf(tx, personId);
    // Whoever had a session may have asked for it.
    await tx.run(voidEmailRequests, [personId]);
    if (ended > 0) await audit(tx, change);
    return ended;
  });
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
  {
    personId,
    invitation,
    author,
    now,
  }: { personId: string; invitation: Invitation; author?: Author | undefined; now: Date },
): Promise<InviteOutcome> {
  const { email, role, advertiser: named, botIds = [] } = invitation;
  const { token, expiresAt } = newInvitation(now);
  return database.transaction<InviteOutcome>(async (tx) => {
    const change = await openChange(tx, author, personId);
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
    if (person === undefined) return { outcome: "known-email" };
    await audit(tx, change);
    return { outcome: "invited", person, token, expiresAt };
  });
}

export function newPersonId(): string {
  return `per_${bs58.encode(randomBytes(9))}`;
}

const renew = statement<never>(
  "people.renew-invitation",
  `with passkeys as (delete from person_passkeys where person_id = $1),
   identities as (delete from person_identities where person_id = $1),
   recovery_codes as (delete from person_recovery_codes where person_id = $1)
   update people set password_hash = null, totp_secret = $2, totp_step = 0, invitation_hash = $3, invitation_expires_at = $4
   where person_id = $1`,
);

/** Ends every way in that the person has, open links and sessions included. Undefined: there is no such person. */
export async function renewInvitation(
  { database, secretBox }: { database: Database; secretBox: SecretBox },
  { personId, by, author, now }: AccountChange & { now: Date },
): Promise<{ person: Person; token: string; expiresAt: Date; isReset: boolean } | undefined> {
  const { token, expiresAt } = newInvitation(now);
  return database.transaction(async (tx) => {
    const change = await openChange(tx, author, personId);
    await holdAccounts(tx, by);
    const before = await findPerson(tx, personId);
    if (before === undefined) return undefined;
    await tx.run(renew, [personId, secretBox.seal(newTotpSecret(), personId), hashOfToken(token), expiresAt]);
    await tx.run(voidEmailChanges, [personId]);
    await endSessionsOf(tx, personId);
    const person = await findPerson(tx, personId);
    if (person === undefined) return undefined;
    await audit(tx, change);
    return { person, token, expiresAt, isReset: before.signInMethods.length > 0 };
  });
}

const SIGN_IN_LINK_MS = 3_600_000;

const findByEmail = statement<{ personId: string }>(
  "people.find-by-email",
  'select person_id as "personId" from people where email = $1',
);
const setSignInLink = statement<{ personId: string }>(
  "people.set-sign-in-link",
  `update people set sign_in_hash = $2, sign_in_expires_at = $3 where person_id = $1 and not is_disabled
   returning person_id as "personId"`,
);

/** Makes a link that signs a person in once; an earlier one is void. Undefined: no person with this address may sign in. */
export async function createSignInLink(
  database: Database,
  { email, author, now }: { email: string; author?: Author | undefined; now: Date },
): Promise<{ person: Person; token: string; expiresAt: Date } | undefined> {
  const token = newToken();
  const expiresAt = new Date(now.getTime() + SIGN_IN_LINK_MS);
  return database.transaction(async (tx) => {
    const personId = await findPersonId(tx, email);
    if (personId === undefined) return undefined;
    const change = await openChange(tx, author, personId);
    if ((await tx.run(setSignInLink, [personId, hashOfToken(token), expiresAt])).length === 0) return undefined;
    await audit(tx, change);
    const person = await findPerson(tx, personId);
    return person && { person, token, expiresAt };
  });
}

const setRole = statement<{ personId: string }>(
  "people.set-role",
  `update people set role = $2, advertiser_id = $3, bot_ids = $4, updated_at = ${nextVersion("people", "$5")}
   where person_id = $1 and ${hasVersion("people", "$6")} returning person_id as "personId"`,
);

export type ChangeRoleOutcome =
  | { outcome: "changed"; person: Person }
  | { outcome: "unknown-advertiser" }
  | { outcome: "unknown-person" }
  | { outcome: "changed-since" };

/** A change of another person's account. */
interface AccountChange {
  personId: string;
  by: ChangingSession;
  author?: Author | undefined;
}

interface RoleChange extends Omit<Invitation, "email">, AccountChange {
  /** Nothing is changed if the person was changed after it. */
  expectedUpdatedAt?: Date | undefined;
  now: Date;
}

/** What the person was told of objects that the new role, advertiser or bots may not see. */
const forgetAlerts = statement<never>(
  "people.forget-alerts",
  "delete from alerts where person_id = $1 and cause <> 'new-device'",
);

/** What the person has open of others' objects ends with the sessions, in the same commit. The bots must exist. */
export async function changeRole(
  database: Database,
  { personId, role, advertiser: named, botIds = [], by, author, expectedUpdatedAt, now }: RoleChange,
): Promise<ChangeRoleOutcome> {
  return database.transaction<ChangeRoleOutcome>(async (tx) => {
    const change = await openChange(tx, author, personId);
    await holdAccounts(tx, by);
    const advertiser = named === undefined ? null : await findAdvertiser(tx, named);
    if (advertiser === undefined) return { outcome: "unknown-advertiser" };
    const values = [personId, role, advertiser?.advertiserId, botIds, now, expectedUpdatedAt];
    const isChanged = (await tx.run(setRole, values)).length > 0;
    if (isChanged) await endSessionsOf(tx, personId);
    if (isChanged) await tx.run(forgetAlerts, [personId]);
    const person = await findPerson(tx, personId);
    if (person === undefined) return { outcome: "unknown-person" };
    if (!isChanged) return { outcome: "changed-since" };
    await audit(tx, change);
    return { outcome: "changed", person };
  });
}

// The invitation was sent to the former address.
const setEmail = statement<{ language: StatementLanguage }>(
  "people.set-email",
  `update people set email = $2, invitation_hash = null, invitation_expires_at = null, updated_at = ${nextVersion("people", "$3")}
   where person_id = $1 and ${hasVersion("people", "$4")}
   returning coalesce((select language from alert_settings where alert_settings.person_id = people.person_id), 'en') as language`,
);

export type ChangeEmailOutcome =
  | { outcome: "changed"; person: Person; formerEmail: string; language: StatementLanguage }
  | { outcome: "known-email" }
  | { outcome: "unknown-person" }
  | { outcome: "changed-since" };

interface EmailOfPerson extends AccountChange {
  email: string;
  /** Nothing is changed if the person was changed after it. */
  expectedUpdatedAt?: Date | undefined;
  now: Date;
}

/** What was sent to the former address opens the account no more: the invitation, links, and sessions, which begin anew. */
export async function changeEmail(
  database: Database,
  { personId, email, by, author, expectedUpdatedAt, now }: EmailOfPerson,
): Promise<ChangeEmailOutcome> {
  try {
    return await database.transaction<ChangeEmailOutcome>(async (tx) => {
      const change = await openChange(tx, author, personId);
      await holdAccounts(tx, by);
      const before = await findPerson(tx, personId);
      if (before === undefined) return { outcome: "unknown-person" };
      const [changed] = await tx.run(setEmail, [personId, email, now, expectedUpdatedAt]);
      if (changed === undefined) return { outcome: "changed-since" };
      await tx.run(voidEmailChanges, [personId]);
      await endSessionsOf(tx, personId);
      const person = await findPerson(tx, personId);
      if (person === undefined) return { outcome: "unknown-person" };
      await audit(tx, change);
      return { outcome: "changed", person, formerEmail: before.email, ...changed };
    });
  } catch (error) {
    if (isEmailTaken(error)) return { outcome: "known-email" };
    throw error;
  }
}

// An invitation that was open is void for good: enabling the account does not bring it back.
const setDisabled = statement<never>(
  "people.set-disabled",
  "update people set is_disabled = $2, invitation_hash = null, invitation_expires_at = null where person_id = $1",
);

/** A disabled person's sessions and open links end in the same commit. Undefined: there is no such person. */
export async function disablePerson(
  database: Database,
  { personId, by, author }: AccountChange,
): Promise<Person | undefined> {
  return database.transaction(async (tx) => {
    const change = await openChange(tx, author, personId);
    await holdAccounts(tx, by);
    await tx.run(setDisabled, [personId, true]);
    await tx.run(voidEmailChanges, [personId]);
    await endSessionsOf(tx, personId);
    const person = await findPerson(tx, personId);
    if (person !== undefined) await audit(tx, change);
    return person;
  });
}

export async function enablePerson(
  database: Database,
  { personId, by, author }: AccountChange,
): Promise<Person | undefined> {
  return database.transaction(async (tx) => {
    const change = await openChange(tx, author, personId);
    await holdAccounts(tx, by);
    await tx.run(setDisabled, [personId, false]);
    const person = await findPerson(tx, personId);
    if (person !== undefined) await audit(tx, change);
    return person;
  });
}

export async function findPerson(tx: Pick<Transaction, "run">, personId: string): Promise<Person | undefined> {
  return (await tx.run(find, [personId]))[0];
}

export async function findPersonId(tx: Pick<Transaction, "run">, email: string): Promise<string | undefined> {
  return (await tx.run(findByEmail, [email]))[0]?.personId;
}

export function unknownPerson(personId: string) {
  return notFound(`there is no person ${personId}; see all with: people list`);
}

function newInvitation(now: Date): { token: string; expiresAt: Date } {
  return { token: newToken(), expiresAt: new Date(now.getTime() + INVITATION_MS) };
}

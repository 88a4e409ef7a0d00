import { randomBytes } from "node:crypto";
import type { Person } from "@intermission/operator-api/people";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import { nameChangedObject } from "@intermission/postgres/recorded-changes";
import bs58 from "bs58";
import type { ProvedIdentity } from "../../outbound/openid-providers.ts";
import { hashOfToken } from "../people.ts";
import { completeSignIn } from "../sign-in.ts";
import { MAX_METHODS } from "./sign-in-methods.ts";

interface SigningIn {
  cookieToken: string | undefined;
  now: Date;
}

type SignedIn = { outcome: "signed-in"; person: Person; token: string; expiresAt: Date };

const use = statement<{ personId: string }>(
  "identities.use",
  `update person_identities set last_used_at = $3, label = $4 from people
   where issuer = $1 and subject = $2 and people.person_id = person_identities.person_id and not people.is_disabled
   returning people.person_id as "personId"`,
);

/** Signs in the person who has linked the account. An account that is not linked is refused. */
export async function signInByIdentity(
  database: Database,
  { issuer, subject, label }: ProvedIdentity,
  { cookieToken, now }: SigningIn,
): Promise<SignedIn | { outcome: "not-linked" }> {
  return database.transaction<SignedIn | { outcome: "not-linked" }>(async (tx) => {
    const [found] = await tx.run(use, [issuer, subject, now, label]);
    return found === undefined ? { outcome: "not-linked" } : completeSignIn(tx, { ...found, cookieToken, now });
  });
}

const lockInvitation = statement<{ personId: string }>(
  "identities.lock-invitation",
  `select person_id as "personId" from people
   where invitation_hash = $1 and invitation_expires_at > $2 and not is_disabled for update`,
);
const useInvitation = statement<never>(
  "identities.use-invitation",
  "update people set invitation_hash = null, invitation_expires_at = null where person_id = $1",
);

export type AcceptByIdentityOutcome = SignedIn | { outcome: "unknown-invitation" } | { outcome: "linked-elsewhere" };

/** Accepts an invitation: the account is linked with the person who is invited, and signs in. */
export async function acceptByIdentity(
  database: Database,
  { identity, invitation }: { identity: ProvedIdentity; invitation: string },
  { cookieToken, now }: SigningIn,
): Promise<AcceptByIdentityOutcome> {
  return database.transaction<AcceptByIdentityOutcome>(async (tx) => {
    const [invited] = await tx.run(lockInvitation, [hashOfToken(invitation), now]);
    if (invited === undefined) return { outcome: "unknown-invitation" };
    const linked = await insertIdentity(tx, { ...invited, identity, now });
    if (linked.outcome !== "linked") return { outcome: "linked-elsewhere" };
    await tx.run(useInvitation, [invited.personId]);
    return completeSignIn(tx, { ...invited, cookieToken, now });
  });
}

export type LinkOutcome =
  | { outcome: "linked"; identityId: string }
  /** With this person or another one. */
  | { outcome: "linked-already" }
  | { outcome: "too-many" };

/** Links an account with the person who is signed in. */
export async function linkIdentity(
  database: Database,
  link: { personId: string; identity: ProvedIdentity; now: Date },
): Promise<LinkOutcome> {
  nameChangedObject(link.personId);
  return database.transaction((tx) => insertIdentity(tx, link));
}

const count = statement<{ count: number }>(
  "identities.count",
  "select count(*)::integer as count from person_identities where person_id = $1",
);
const insert = statement<{ identityId: string }>(
  "identities.insert",
  `insert into person_identities (identity_id, person_id, issuer, subject, label, created_at) values ($1, $2, $3, $4, $5, $6)
   on conflict (issuer, subject) do nothing returning identity_id as "identityId"`,
);

async function insertIdentity(
  tx: Transaction,
  { personId, identity, now }: { personId: string; identity: ProvedIdentity; now: Date },
): Promise<LinkOutcome> {
  const [counted] = await tx.run(count, [personId]);
  if (counted !== undefined && counted.count >= MAX_METHODS) return { outcome: "too-many" };
  const identityId = `idt_${bs58.encode(randomBytes(9))}`;
  const { issuer, subject, label } = identity;
  const [inserted] = await tx.run(insert, [identityId, personId, issuer, subject, label, now]);
  return inserted === undefined ? { outcome: "linked-already" } : { outcome: "linked", identityId };
}

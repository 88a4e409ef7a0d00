import { randomBytes } from "node:crypto";
import type { Person } from "@intermission/operator-api/session";
import { type Author, audit, openChange } from "@intermission/postgres/audit";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import bs58 from "bs58";
import { hashOfToken } from "../people.ts";
import type { Browser } from "../sessions.ts";
import { completeSignIn } from "../sign-in.ts";
import type { ProvedIdentity } from "./openid-providers.ts";
import { MAX_METHODS } from "./sign-in-methods.ts";

interface SigningIn {
  browser: Browser;
  author?: Author | undefined;
  now: Date;
}

type SignedIn = { outcome: "signed-in"; person: Person; token: string; expiresAt: Date };

const find = statement<{ personId: string }>(
  "identities.find",
  'select person_id as "personId" from person_identities where issuer = $1 and subject = $2',
);
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
  { browser, author, now }: SigningIn,
): Promise<SignedIn | { outcome: "not-linked" }> {
  return database.transaction<SignedIn | { outcome: "not-linked" }>(async (tx) => {
    const [linked] = await tx.run(find, [issuer, subject]);
    if (linked === undefined) return { outcome: "not-linked" };
    const change = await openChange(tx, author, linked.personId);
    const [found] = await tx.run(use, [issuer, subject, now, label]);
    return found === undefined ? { outcome: "not-linked" } : completeSignIn(tx, { ...found, change, browser, now });
  });
}

const selectInvited = `select person_id as "personId" from people
   where invitation_hash = $1 and invitation_expires_at > $2 and not is_disabled`;
const findInvitation = statement<{ personId: string }>("identities.find-invitation", selectInvited);
const lockInvitation = statement<{ personId: string }>("identities.lock-invitation", `${selectInvited} for update`);
const useInvitation = statement<never>(
  "identities.use-invitation",
  "update people set invitation_hash = null, invitation_expires_at = null where person_id = $1",
);

type AcceptByIdentityOutcome = SignedIn | { outcome: "unknown-invitation" } | { outcome: "linked-elsewhere" };

/** Accepts an invitation: the account is linked with the person who is invited, and signs in. */
export async function acceptByIdentity(
  database: Database,
  { identity, invitation }: { identity: ProvedIdentity; invitation: string },
  { browser, author, now }: SigningIn,
): Promise<AcceptByIdentityOutcome> {
  return database.transaction<AcceptByIdentityOutcome>(async (tx) => {
    const invitationHash = hashOfToken(invitation);
    const [found] = await tx.run(findInvitation, [invitationHash, now]);
    if (found === undefined) return { outcome: "unknown-invitation" };
    const change = await openChange(tx, author, found.personId);
    const [invited] = await tx.run(lockInvitation, [invitationHash, now]);
    if (invited === undefined) return { outcome: "unknown-invitation" };
    const linked = await insertIdentity(tx, { ...invited, identity, now });
    if (linked.outcome !== "linked") return { outcome: "linked-elsewhere" };
    await tx.run(useInvitation, [invited.personId]);
    return completeSignIn(tx, { ...invited, change, browser, now });
  });
}

type LinkOutcome =
  | { outcome: "linked"; identityId: string }
  /** With this person or another one. */
  | { outcome: "linked-already" }
  | { outcome: "too-many" };

/** Links an account with the person who is signed in. */
export async function linkIdentity(
  database: Database,
  { author, ...link }: { personId: string; identity: ProvedIdentity; author?: Author | undefined; now: Date },
): Promise<LinkOutcome> {
  return database.transaction(async (tx) => {
    const change = await openChange(tx, author, link.personId);
    const linked = await insertIdentity(tx, link);
    if (linked.outcome === "linked") await audit(tx, change);
    return linked;
  });
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

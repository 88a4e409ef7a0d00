import { createHash, randomBytes } from "node:crypto";
import type { Person } from "@intermission/operator-api/session";
import type { Passkey, signInMethodRoutes } from "@intermission/operator-api/sign-in-methods";
import { type Author, audit, changeAudited, openChange } from "@intermission/postgres/audit";
import { type Database, statement } from "@intermission/postgres/open-database";
import {
  type AuthenticatorTransport,
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from "@simplewebauthn/server";
import bs58 from "bs58";
import { z } from "zod";
import { consoleOrigins } from "../console-address.ts";
import type { Browser } from "../sessions.ts";
import { completeSignIn } from "../sign-in.ts";
import type { SealedCookie } from "./sealed-cookie.ts";
import { MAX_METHODS } from "./sign-in-methods.ts";

type Routes = typeof signInMethodRoutes;
type Assertion = z.output<Routes["signInWithPasskey"]["body"]>["credential"];
type NewCredential = z.output<Routes["addPasskey"]["body"]>["credential"];

/** The challenge that a passkey must answer. The person is null during a sign-in. */
export const passkeyChallenge: SealedCookie<{ challenge: string; personId: string | null }> = {
  name: "__Host-passkey",
  seconds: 5 * 60,
  schema: z.strictObject({ challenge: z.string(), personId: z.string().nullable() }),
};

/** For which address passkeys are: on a machine of one's own `localhost`, since an IP address can have none. */
export function relyingParty(publicUrl: string): { id: string; origin: string } {
  const [origin = publicUrl] = consoleOrigins(publicUrl);
  return { id: new URL(origin).hostname, origin };
}

/** What a browser needs to sign in with a passkey. It names none: the passkey says whose it is. */
export async function signInOptions(publicUrl: string) {
  // Unlocking the passkey (by finger, face or PIN) is the second factor beside having it.
  return generateAuthenticationOptions({ rpID: relyingParty(publicUrl).id, userVerification: "required" });
}

const list = statement<{ credentialId: string; transports: AuthenticatorTransport[] }>(
  "passkeys.list",
  `select credential_id as "credentialId", transports from person_passkeys where person_id = $1`,
);

/** EdDSA, ES256 and RS256: every authenticator has one. The library would try experimental ones of Node besides. */
const algorithms = [-8, -7, -257];

/** What a browser needs to make a passkey. A device that has one of this person already refuses a second. */
export async function additionOptions(
  { database, publicUrl }: { database: Database; publicUrl: string },
  { personId, email }: Pick<Person, "personId" | "email">,
) {
  const known = await database.run(list, [personId]);
  return generateRegistrationOptions({
    rpName: "Intermission",
    rpID: relyingParty(publicUrl).id,
    userName: email,
    userID: new Uint8Array(Buffer.from(personId)),
    attestationType: "none",
    supportedAlgorithmIDs: algorithms,
    excludeCredentials: known.map(({ credentialId: id, transports }) => ({ id, transports })),
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
  });
}

interface Challenge {
  challenge: string;
  expiresAt: Date;
}

type AddPasskeyOutcome =
  | { outcome: "added"; passkey: Passkey }
  | { outcome: "refused"; detail: string }
  | { outcome: "too-many" };

const transportNames: readonly string[] = ["ble", "cable", "hybrid", "internal", "nfc", "smart-card", "usb"];
const isTransport = (text: string): text is AuthenticatorTransport => transportNames.includes(text);

const count = statement<{ count: number }>(
  "passkeys.count",
  "select count(*)::integer as count from person_passkeys where person_id = $1",
);
const insert = statement<Passkey>(
  "passkeys.insert",
  `with inserted as (
    insert into person_passkeys (passkey_id, person_id, credential_id, public_key, sign_count, transports, name, created_at)
    select $1, $2, $3, $4, $5, $6, $7, $8
    where not exists (select from used_passkey_challenges where challenge_hash = $9)
    on conflict do nothing returning passkey_id, name, created_at, last_used_at
  ),
  used as (
    insert into used_passkey_challenges (challenge_hash, expires_at) select $9, $10 from inserted on conflict do nothing
  )
  select passkey_id as "passkeyId", name, created_at as "createdAt", last_used_at as "lastUsedAt" from inserted`,
);

/** Adds a passkey that the browser has made for this challenge, on this origin, unlocked by its owner. */
export async function addPasskey(
  { database, publicUrl }: { database: Database; publicUrl: string },
  request: Challenge & {
    personId: string;
    name: string;
    credential: NewCredential;
    author?: Author | undefined;
    now: Date;
  },
): Promise<AddPasskeyOutcome> {
  const { personId, name, credential, challenge, expiresAt, author, now } = request;
  const { response, ...head } = credential;
  const transports = (response.transports ?? []).filter(isTransport);
  const verified = await verifyRegistrationResponse({
    response: { ...head, response: { ...response, transports } },
    expectedChallenge: challenge,
    expectedOrigin: relyingParty(publicUrl).origin,
    expectedRPID: relyingParty(publicUrl).id,
    requireUserVerification: true,
    supportedAlgorithmIDs: algorithms,
  }).catch((error: Error) => error);
  if (verified instanceof Error) return { outcome: "refused", detail: verified.message };
  if (!verified.verified) return { outcome: "refused", detail: "its signature is wrong" };
  const { id, publicKey, counter } = verified.registrationInfo.credential;
  const passkeyId = `pky_${bs58.encode(randomBytes(9))}`;
  return database.transaction<AddPasskeyOutcome>(async (tx) => {
    const change = await openChange(tx, author, personId);
    const [counted] = await tx.run(count, [personId]);
    if (counted !== undefined && counted.count >= MAX_METHODS) return { outcome: "too-many" };
    const values = [passkeyId, personId, id, Buffer.from(publicKey), counter, transports, name, now];
    const [passkey] = await tx.run(insert, [...values, hashOf(challenge), expiresAt]);
    if (passkey === undefined) return { outcome: "refused", detail: "it was added already" };
    await audit(tx, change);
    return { outcome: "added", passkey };
  });
}

interface StoredPasskey {
  passkeyId: string;
  personId: string;
  publicKey: Buffer;
  signCount: number;
  transports: AuthenticatorTransport[];
}

const find = statement<StoredPasskey>(
  "passkeys.find",
  `select passkey_id as "passkeyId", person_passkeys.person_id as "personId", public_key as "publicKey",
     sign_count as "signCount", transports
   from person_passkeys join people using (person_id) where credential_id = $1 and not is_disabled`,
);
const removeOld = statement<never>(
  "passkeys.remove-old-challenges",
  "delete from used_passkey_challenges where expires_at <= $1",
);
// Decided by the update itself: of two requests with one answer, or of two nodes, one is accepted. A counter that does not
// rise is that of a copied passkey.
const use = statement<{ one: number }>(
  "passkeys.use",
  `with counted as (
    update person_passkeys set sign_count = $2, last_used_at = $3
    where passkey_id = $1 and (sign_count < $2 or (sign_count = 0 and $2 = 0))
      and not exists (select from used_passkey_challenges where challenge_hash = $4)
    returning 1
  )
  insert into used_passkey_challenges (challenge_hash, expires_at) select $4, $5 from counted
  on conflict do nothing returning 1 as one`,
);

type PasskeySignInOutcome =
  | { outcome: "signed-in"; person: Person; token: string; expiresAt: Date }
  /** Unknown, replayed, copied, or of another challenge or address: nothing says which. */
  | { outcome: "refused" };

export async function signInWithPasskey(
  { database, publicUrl }: { database: Database; publicUrl: string },
  request: Challenge & {
    credential: Assertion;
    browser: Browser;
    author?: Author | undefined;
    now: Date;
  },
): Promise<PasskeySignInOutcome> {
  const { credential, challenge, expiresAt, browser, author, now } = request;
  const [passkey] = await database.run(find, [credential.id]);
  if (passkey === undefined) return { outcome: "refused" };
  const { passkeyId, personId, publicKey, signCount: counter, transports } = passkey;
  const { userHandle } = credential.response;
  if (userHandle !== undefined && Buffer.from(userHandle, "base64url").toString() !== personId) {
    return { outcome: "refused" };
  }
  const { userHandle: _, ...response } = credential.response;
  const verified = await verifyAuthenticationResponse({
    response: { ...credential, response: { ...response, ...(userHandle !== undefined && { userHandle }) } },
    expectedChallenge: challenge,
    expectedOrigin: relyingParty(publicUrl).origin,
    expectedRPID: relyingParty(publicUrl).id,
    credential: { id: credential.id, publicKey: new Uint8Array(publicKey), counter, transports },
    requireUserVerification: true,
  }).catch(() => undefined);
  if (!verified?.verified) return { outcome: "refused" };
  const { newCounter } = verified.authenticationInfo;
  return database.transaction<PasskeySignInOutcome>(async (tx) => {
    const change = await openChange(tx, author, personId);
    const accepted = await tx.run(use, [passkeyId, newCounter, now, hashOf(challenge), expiresAt]);
    if (accepted.length === 0) return { outcome: "refused" };
    await tx.run(removeOld, [now]);
    return completeSignIn(tx, { personId, change, browser, now });
  });
}

const rename = statement<Passkey>(
  "passkeys.rename",
  `update person_passkeys set name = $3 where person_id = $1 and passkey_id = $2
   returning passkey_id as "passkeyId", name, created_at as "createdAt", last_used_at as "lastUsedAt"`,
);

/** Undefined: the person has no such passkey. */
export async function renamePasskey(
  database: Database,
  of: { personId: string; passkeyId: string; name: string; author?: Author | undefined },
): Promise<Passkey | undefined> {
  const { personId, passkeyId, name, author } = of;
  const values = [personId, passkeyId, name];
  return changeAudited(database, { objectId: personId, author }, { statement: rename, values });
}

function hashOf(challenge: string): Buffer {
  return createHash("sha256").update(challenge).digest();
}

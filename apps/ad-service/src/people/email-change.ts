import type { StatementLanguage } from "@intermission/operator-api/statement-languages";
import { type Author, audit, openChange } from "@intermission/postgres/audit";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import { nextVersion } from "@intermission/postgres/row-version";
import { addressNetwork } from "@intermission/server/client-address";
import type { CountCall } from "@intermission/server/counted-calls";
import { checkPassword } from "./password.ts";
import { hashOfToken, isEmailTaken, newToken } from "./people.ts";
import type { Session } from "./sessions.ts";
import { type SignIns, waitOfAccount, waitOfAddress } from "./sign-in.ts";
import { totpStep } from "./totp.ts";

/** Of a request. `void`: another one replaced it, or the account was changed otherwise. */
export const emailChangeStates = ["requested", "made", "undone", "void"] as const;

const HOUR_MS = 3_600_000;
const CONFIRM_MS = HOUR_MS;
const UNDO_MS = 14 * 24 * HOUR_MS;
/** Of one person in a day: each one sends a mail to an address that nobody has confirmed. */
const MAX_REQUESTS = 5;
const REQUESTS_SECONDS = 24 * 3600;

const findRequested = statement<{ email: string; expiresAt: Date }>(
  "email-change.find-requested",
  `select new_email as email, expires_at as "expiresAt" from person_email_changes
   where person_id = $1 and state = 'requested' and expires_at > $2`,
);

/** The change that waits for its confirmation, if there is one. */
export async function findRequestedChange(
  database: Pick<Database, "run">,
  { personId, now }: { personId: string; now: Date },
): Promise<{ email: string; expiresAt: Date } | null> {
  return (await database.run(findRequested, [personId, now]))[0] ?? null;
}

const findSecrets = statement<{ passwordHash: string | null; totpSecret: Buffer }>(
  "email-change.find-secrets",
  'select password_hash as "passwordHash", totp_secret as "totpSecret" from people where person_id = $1',
);
// The row is locked before changes are counted. A code of the authenticator app is accepted once, as in a sign-in.
const holdAccount = statement<{ email: string; language: StatementLanguage }>(
  "email-change.hold-account",
  `update people set totp_step = coalesce($3, totp_step)
   where person_id = $1 and password_hash is not distinct from $2 and ($3::bigint is null or totp_step < $3) and not is_disabled
   returning email, coalesce((select language from alert_settings where alert_settings.person_id = people.person_id), 'en') as language`,
);
const countRecent = statement<{ count: number; first: Date }>(
  "email-change.count-recent",
  `select count(*)::int as count, min(requested_at) as first from person_email_changes
   where person_id = $1 and requested_at > $2::timestamptz - make_interval(secs => ${REQUESTS_SECONDS})`,
);
const voidRequested = statement<never>(
  "email-change.void-requested",
  "update person_email_changes set state = 'void' where person_id = $1 and state = 'requested'",
);
const removeOld = statement<never>(
  "email-change.remove-old",
  "delete from person_email_changes where person_id = $1 and undo_expires_at < $2",
);
const insert = statement<never>(
  "email-change.insert",
  `insert into person_email_changes (token_hash, undo_hash, person_id, old_email, new_email, session_hash, requested_at, expires_at, undo_expires_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
);
const findHolder = statement<{ one: number }>(
  "email-change.find-holder",
  "select 1 as one from people where email = $1",
);

interface EmailChangeRequest extends Pick<Session, "person" | "tokenHash"> {
  email: string;
  currentPassword?: string | undefined;
  code?: string | undefined;
  /** Whether the person signed in so lately that a person without a password needs no other proof. */
  isFresh: boolean;
  address: string;
  count: CountCall;
  author: Author;
  now: Date;
}

/** What the two mails need. */
export interface RequestedChange {
  token: string;
  undoToken: string;
  oldEmail: string;
  newEmail: string;
  expiresAt: Date;
  undoExpiresAt: Date;
  language: StatementLanguage;
  /** Whether another person has the new address: its mail says so, and has no link. */
  isTaken: boolean;
}

type RequestOutcome =
  | { outcome: "requested"; change: RequestedChange }
  | { outcome: "same-address" }
  | { outcome: "password-needed" }
  /** A person without a password, who signed in too long ago. */
  | { outcome: "not-fresh" }
  | { outcome: "refused" }
  | { outcome: "too-many-tries"; waitSeconds: number };

/**
 * Notes what a person wants the own address to be. That another person has it is said to the holder of that address alone, so
 * that the outcome tells nobody which addresses have accounts. An earlier request is void.
 */
export async function requestEmailChange(signIns: SignIns, request: EmailChangeRequest): Promise<RequestOutcome> {
  const { database } = signIns;
  const { person, email, count, now } = request;
  if (email === person.email) return { outcome: "same-address" };
  const address = addressNetwork(request.address);
  const tooMany = waitOfAccount(signIns, { email: person.email, address, count, now });
  if (tooMany !== undefined) return tooMany;
  const proof = await proofOf(signIns, request);
  if (proof.outcome !== "proved") return proof;
  const { personId } = person;
  return database.transaction<RequestOutcome>(async (tx) => {
    const opened = await openChange(tx, request.author, personId);
    const [held] = await tx.run(holdAccount, [personId, proof.passwordHash, proof.step]);
    if (held === undefined) return { outcome: "refused" };
    const [recent] = await tx.run(countRecent, [personId, now]);
    if (recent !== undefined && recent.count >= MAX_REQUESTS)
      return { outcome: "too-many-tries", waitSeconds: secondsUntilFewer(recent.first, now) };
    await tx.run(voidRequested, [personId]);
    await tx.run(removeOld, [personId, now]);
    const [token, undoToken] = [newToken(), newToken()];
    const expiresAt = new Date(now.getTime() + CONFIRM_MS);
    const undoExpiresAt = new Date(now.getTime() + UNDO_MS);
    const hashes = [hashOfToken(token), hashOfToken(undoToken)];
    const times = [now, expiresAt, undoExpiresAt];
    await tx.run(insert, [...hashes, personId, held.email, email, request.tokenHash, ...times]);
    const isTaken = (await tx.run(findHolder, [email])).length > 0;
    await audit(tx, opened);
    const { email: oldEmail, language } = held;
    const change = { token, undoToken, oldEmail, newEmail: email, expiresAt, undoExpiresAt, language, isTaken };
    return { outcome: "requested", change };
  });
}

function secondsUntilFewer(first: Date, now: Date): number {
  return Math.max(1, Math.ceil((first.getTime() - now.getTime()) / 1000) + REQUESTS_SECONDS);
}

type Proof =
  | { outcome: "proved"; passwordHash: string | null; step: number | null }
  | Exclude<RequestOutcome, { outcome: "requested" }>;

/** By the password and a code; of a person without a password, by a recent sign-in with a passkey or a linked account. */
async function proofOf(
  { database, secretBox, hashing }: SignIns,
  { person: { personId }, currentPassword, code, isFresh, now }: EmailChangeRequest,
): Promise<Proof> {
  const [secrets] = await database.run(findSecrets, [personId]);
  if (secrets === undefined) return { outcome: "refused" };
  const { passwordHash, totpSecret } = secrets;
  if (passwordHash === null)
    return isFresh ? { outcome: "proved", passwordHash, step: null } : { outcome: "not-fresh" };
  if (currentPassword === undefined || code === undefined) return { outcome: "password-needed" };
  const check = await checkPassword(hashing, passwordHash, currentPassword);
  const step = totpStep(secretBox.open(totpSecret, personId), code, now);
  return check === "wrong" || step === undefined ? { outcome: "refused" } : { outcome: "proved", passwordHash, step };
}

const voidOne = statement<never>(
  "email-change.void-one",
  "update person_email_changes set state = 'void' where token_hash = $1 and state = 'requested'",
);

/** A change whose mails were not sent. */
export async function dropRequestedChange(database: Pick<Database, "run">, token: string): Promise<void> {
  await database.run(voidOne, [hashOfToken(token)]);
}

export type EmailChangeOutcome =
  | { outcome: "changed"; email: string }
  /** Another person has got the address meanwhile. */
  | { outcome: "taken" }
  | { outcome: "unknown-link" }
  | { outcome: "too-many-tries"; waitSeconds: number };

interface LinkRequest {
  token: string;
  address: string;
  count: CountCall;
  author: Author;
  now: Date;
}

interface StoredChange {
  personId: string;
  oldEmail: string;
  newEmail: string;
  sessionHash: Buffer;
  state: (typeof emailChangeStates)[number];
  requestedAt: Date;
}

const columns = `person_id as "personId", old_email as "oldEmail", new_email as "newEmail", session_hash as "sessionHash", state,
  requested_at as "requestedAt"`;
const findByToken = statement<StoredChange>(
  "email-change.find",
  `select ${columns} from person_email_changes where token_hash = $1 and state = 'requested' and expires_at > $2`,
);
const findByUndo = statement<StoredChange>(
  "email-change.find-undo",
  `select ${columns} from person_email_changes where undo_hash = $1 and state in ('requested', 'made') and undo_expires_at > $2`,
);
const lockPerson = statement<{ isDisabled: boolean }>(
  "email-change.lock-person",
  'select is_disabled as "isDisabled" from people where person_id = $1 for update',
);
const makeOne = statement<never>(
  "email-change.make",
  "update person_email_changes set state = 'made' where token_hash = $1",
);
// Links that would sign in end as well, and the sessions but one: null ends all.
const setEmail = statement<never>(
  "email-change.set-email",
  `with sessions as (delete from person_sessions where person_id = $1 and token_hash is distinct from $3)
   update people set email = $2, sign_in_hash = null, sign_in_expires_at = null, updated_at = ${nextVersion("people", "$4")}
   where person_id = $1`,
);

/** By the link to the new address. Of several requests with one link, one makes the change. */
export function confirmEmailChange(signIns: SignIns, request: LinkRequest): Promise<EmailChangeOutcome> {
  return byLink(signIns, request, findByToken, async (tx, { personId, newEmail, sessionHash }) => {
    await tx.run(makeOne, [hashOfToken(request.token)]);
    await tx.run(setEmail, [personId, newEmail, sessionHash, request.now]);
    return newEmail;
  });
}

const undoOne = statement<never>(
  "email-change.undo",
  "update person_email_changes set state = 'undone' where undo_hash = $1",
);
const voidLater = statement<never>(
  "email-change.void-later",
  "update person_email_changes set state = 'void' where person_id = $1 and requested_at >= $2 and state in ('requested', 'made')",
);

/**
 * By the link to the old address: refuses a change that was not made, or takes it back with those that followed. Whoever asked
 * for it has the sessions, so all of them end. It opens no session: the link alone gives nobody the account.
 */
export function undoEmailChange(signIns: SignIns, request: LinkRequest): Promise<EmailChangeOutcome> {
  return byLink(signIns, request, findByUndo, async (tx, { personId, oldEmail, requestedAt }) => {
    await tx.run(undoOne, [hashOfToken(request.token)]);
    await tx.run(voidLater, [personId, requestedAt]);
    await tx.run(setEmail, [personId, oldEmail, null, request.now]);
    return oldEmail;
  });
}

async function byLink(
  signIns: SignIns,
  { token, author, now, ...caller }: LinkRequest,
  find: typeof findByToken,
  apply: (tx: Transaction, change: StoredChange) => Promise<string>,
): Promise<EmailChangeOutcome> {
  const tooMany = waitOfAddress(signIns, { ...caller, now });
  if (tooMany !== undefined) return tooMany;
  try {
    return await signIns.database.transaction<EmailChangeOutcome>(async (tx) => {
      const hash = hashOfToken(token);
      const [named] = await tx.run(find, [hash, now]);
      if (named === undefined) return { outcome: "unknown-link" };
      const opened = await openChange(tx, author, named.personId);
      const [person] = await tx.run(lockPerson, [named.personId]);
      // As it is once nobody else can change it.
      const [change] = await tx.run(find, [hash, now]);
      if (change === undefined || person === undefined || person.isDisabled) return { outcome: "unknown-link" };
      const email = await apply(tx, change);
      await audit(tx, opened);
      return { outcome: "changed", email };
    });
  } catch (error) {
    if (isEmailTaken(error)) return { outcome: "taken" };
    throw error;
  }
}

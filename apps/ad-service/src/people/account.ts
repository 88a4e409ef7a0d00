import type { OwnSession } from "@intermission/operator-api/account";
import type { Person } from "@intermission/operator-api/session";
import { type Author, audit, changeAudited, openChange } from "@intermission/postgres/audit";
import { type Database, statement } from "@intermission/postgres/open-database";
import { addressNetwork } from "@intermission/server/client-address";
import type { CountCall } from "@intermission/server/counted-calls";
import { Secret } from "otpauth";
import { checkPassword, hashPassword } from "./password.ts";
import { hashOfToken } from "./people.ts";
import { idleSince, type Session } from "./sessions.ts";
import { type SignIns, waitOfAccount } from "./sign-in.ts";
import { totpStep } from "./totp.ts";

const RECOVERY_CODES = 10;
const RECOVERY_CODE_BYTES = 10;

const listOpen = statement<OwnSession>(
  "account.list-sessions",
  `select session_id as "sessionId", token_hash = $2 as "isCurrent", browser, created_at as "signedInAt",
     last_used_at as "lastUsedAt", expires_at as "expiresAt"
   from person_sessions where person_id = $1 and expires_at > $3 and last_used_at > $4
   order by last_used_at desc, session_id`,
);

export function listOwnSessions(
  database: Database,
  { person, tokenHash, now }: Pick<Session, "person" | "tokenHash"> & { now: Date },
): Promise<OwnSession[]> {
  return database.run(listOpen, [person.personId, tokenHash, now, idleSince(now)]);
}

const endOne = statement<{ isCurrent: boolean }>(
  "account.end-session",
  `with ended as (
     delete from person_sessions where person_id = $1 and session_id = $2 returning token_hash
   ),
   withdrawn as (
     update person_email_changes set state = 'void' from ended
     where person_id = $1 and state = 'requested' and session_hash = ended.token_hash
   )
   select token_hash = $3 as "isCurrent" from ended`,
);

/** Undefined: the person has no such session, or no longer. */
export function endOwnSession(
  database: Database,
  {
    sessionId,
    person: { personId },
    tokenHash,
    author,
  }: Pick<Session, "person" | "tokenHash"> & { sessionId: string; author: Author },
): Promise<{ isCurrent: boolean } | undefined> {
  const values = [personId, sessionId, tokenHash];
  return changeAudited(database, { objectId: personId, author }, { statement: endOne, values });
}

const findSecrets = statement<{ passwordHash: string | null; totpSecret: Buffer }>(
  "account.find-secrets",
  'select password_hash as "passwordHash", totp_secret as "totpSecret" from people where person_id = $1',
);
// A code of the authenticator app is accepted once, here as in a sign-in; of two changes at once, one is refused.
const setPassword = statement<{ one: number }>(
  "account.set-password",
  `update people set password_hash = $3, totp_step = $4, sign_in_hash = null, sign_in_expires_at = null
   where person_id = $1 and password_hash = $2 and totp_step < $4 and not is_disabled returning 1 as one`,
);
const endOthers = statement<{ one: number }>(
  "account.end-other-sessions",
  "delete from person_sessions where person_id = $1 and token_hash <> $2 returning 1 as one",
);

const voidEmailChange = statement<never>(
  "account.void-email-change",
  "update person_email_changes set state = 'void' where person_id = $1 and state = 'requested'",
);

type ChangePasswordOutcome =
  | { outcome: "changed"; ended: number }
  | { outcome: "no-password" }
  /** The password or the code is wrong, or the code was used. */
  | { outcome: "refused" }
  | { outcome: "too-many-tries"; waitSeconds: number };

interface PasswordChange {
  person: Person;
  /** Of the session that stays. */
  tokenHash: Buffer;
  currentPassword: string;
  code: string;
  password: string;
  address: string;
  count: CountCall;
  author: Author;
  now: Date;
}

/** Tries count together with those to sign in: a stolen session guesses no password. */
export async function changePassword(signIns: SignIns, request: PasswordChange): Promise<ChangePasswordOutcome> {
  const { database, secretBox, hashing } = signIns;
  const { personId, email } = request.person;
  const { count, author, now } = request;
  const tooMany = waitOfAccount(signIns, { email, address: addressNetwork(request.address), count, now });
  if (tooMany !== undefined) return tooMany;
  const [secrets] = await database.run(findSecrets, [personId]);
  if (secrets?.passwordHash == null) return { outcome: "no-password" };
  const check = await checkPassword(hashing, secrets.passwordHash, request.currentPassword);
  const step = totpStep(secretBox.open(secrets.totpSecret, personId), request.code, now);
  if (check === "wrong" || step === undefined) return { outcome: "refused" };
  const newHash = await hashPassword(hashing, request.password);
  return database.transaction<ChangePasswordOutcome>(async (tx) => {
    const change = await openChange(tx, author, personId);
    const changed = await tx.run(setPassword, [personId, secrets.passwordHash, newHash, step]);
    if (changed.length === 0) return { outcome: "refused" };
    await tx.run(voidEmailChange, [personId]);
    const ended = await tx.run(endOthers, [personId, request.tokenHash]);
    await audit(tx, change);
    return { outcome: "changed", ended: ended.length };
  });
}

const lockPassword = statement<{ hasPassword: boolean }>(
  "account.lock-password",
  'select password_hash is not null as "hasPassword" from people where person_id = $1 for update',
);
const removeCodes = statement<never>(
  "account.remove-recovery-codes",
  "delete from person_recovery_codes where person_id = $1",
);
const insertCodes = statement<never>(
  "account.insert-recovery-codes",
  "insert into person_recovery_codes (person_id, code_hash) select $1, unnest($2::bytea[])",
);

/** Replaces the codes by new ones, of which the store has only hashes. Undefined: the person has no password to use them with. */
export async function createRecoveryCodes(
  database: Database,
  { personId, author }: { personId: string; author: Author },
): Promise<string[] | undefined> {
  const codes = Array.from({ length: RECOVERY_CODES }, () =>
    new Secret({ size: RECOVERY_CODE_BYTES }).base32.toLowerCase(),
  );
  return database.transaction(async (tx) => {
    const change = await openChange(tx, author, personId);
    const [found] = await tx.run(lockPassword, [personId]);
    if (found?.hasPassword !== true) return undefined;
    await tx.run(removeCodes, [personId]);
    await tx.run(insertCodes, [personId, codes.map(hashOfToken)]);
    await audit(tx, change);
    return codes.map((code) => code.replace(/.{4}(?=.)/g, "$&-"));
  });
}

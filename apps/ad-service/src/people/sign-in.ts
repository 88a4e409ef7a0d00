import type { Person } from "@intermission/operator-api/session";
import { type Author, audit, type OpenChange, openChange } from "@intermission/postgres/audit";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import { addressNetwork } from "@intermission/server/client-address";
import type { CountCall } from "@intermission/server/counted-calls";
import { type RateLimiter, rateLimiter, secondsToWait } from "@intermission/server/rate-limiter";
import type { SecretBox } from "@intermission/server/secret-box";
import { noteDevice } from "../alerts/note-device.ts";
import { checkPassword, type Hashing, hashPassword, openHashing } from "./password.ts";
import { findPerson, hashOfToken } from "./people.ts";
import { type Browser, openSession } from "./sessions.ts";
import { TOTP_DIGITS, totpStep } from "./totp.ts";

/** Tries to sign in, right and wrong ones: counted before the password is checked, or a guess beyond the limit would count. */
const TRIES_OF_ADDRESS = { quota: 20, windowSeconds: 15 * 60, maxKeys: 10_000 };
const TRIES_OF_ACCOUNT = { quota: 10, windowSeconds: 15 * 60, maxKeys: 10_000 };
/** Addresses from which an account was signed in to, the latest first. */
const MAX_KNOWN_ADDRESSES = 10;

/** What this node remembers of tries. It is per node: with n nodes, n times as many tries are possible. */
export interface SignIns {
  readonly database: Database;
  readonly secretBox: SecretBox;
  readonly ofAddress: RateLimiter;
  readonly ofAccount: RateLimiter;
  readonly hashing: Hashing;
}

export function openSignIns({ database, secretBox }: Pick<SignIns, "database" | "secretBox">): SignIns {
  return {
    database,
    secretBox,
    ofAddress: rateLimiter(TRIES_OF_ADDRESS),
    ofAccount: rateLimiter(TRIES_OF_ACCOUNT),
    hashing: openHashing(),
  };
}

export type SignInOutcome =
  | { outcome: "signed-in"; person: Person; token: string; expiresAt: Date }
  /** The address, the password or the code is wrong, or the code was used: nothing says which. */
  | { outcome: "refused" }
  | { outcome: "too-many-tries"; waitSeconds: number };

interface SignInRequest {
  email: string;
  password: string;
  code: string;
  address: string;
  browser: Browser;
  /** Counts this request in a limit. */
  count: CountCall;
  author: Author;
  now: Date;
}

interface Account {
  personId: string;
  passwordHash: string | null;
  totpSecret: Buffer;
  isKnownAddress: boolean;
}

const findAccount = statement<Account>(
  "people.find-account",
  `select person_id as "personId", password_hash as "passwordHash", totp_secret as "totpSecret",
     $2 = any (known_addresses) as "isKnownAddress"
   from people where email = $1 and not is_disabled`,
);
// The code is accepted only if its step is later than the last accepted one, decided by the update itself.
const accept = statement<never>(
  "people.accept-sign-in",
  `update people set totp_step = $2, password_hash = $5, known_addresses = (array_prepend($3, array_remove(known_addresses, $3)))[1:${MAX_KNOWN_ADDRESSES}]
   where person_id = $1 and totp_step < $2 and not is_disabled and password_hash = $4
   returning person_id`,
);

// Two requests with one recovery code: the second one waits for the first, and finds the code gone.
const acceptWithRecoveryCode = statement<never>(
  "people.accept-recovery-code",
  `with used as (delete from person_recovery_codes where person_id = $1 and code_hash = $2 returning 1)
   update people set password_hash = $5, known_addresses = (array_prepend($3, array_remove(known_addresses, $3)))[1:${MAX_KNOWN_ADDRESSES}]
   where person_id = $1 and exists (select from used) and not is_disabled and password_hash = $4
   returning person_id`,
);

/**
 * By the password and a code of the authenticator app, or a recovery code instead. Wrong tries from one address do not lock the owner of an account out: an address from which the account was signed in to
 * before has tries of its own.
 */
export async function signIn(signIns: SignIns, request: SignInRequest): Promise<SignInOutcome> {
  const { database, secretBox } = signIns;
  const { email, password, code, count, now } = request;
  const address = addressNetwork(request.address);
  const tooMany = waitOf(count, signIns.ofAddress, address, now);
  if (tooMany !== undefined) return tooMany;
  const [account] = await database.run(findAccount, [email, address]);
  const known = account?.isKnownAddress === true ? address : undefined;
  const tooManyOfAccount = waitOfAccount(signIns, { email, address: known, count, now });
  if (tooManyOfAccount !== undefined) return tooManyOfAccount;
  const check = await checkPassword(signIns.hashing, account?.passwordHash ?? null, password);
  if (account === undefined || check === "wrong") return { outcome: "refused" };
  const { personId, passwordHash, totpSecret } = account;
  const isRecovery = code.length > TOTP_DIGITS;
  const step = isRecovery ? undefined : totpStep(secretBox.open(totpSecret, personId), code, now);
  if (!isRecovery && step === undefined) return { outcome: "refused" };
  const keptHash = check === "right" ? passwordHash : await hashPassword(signIns.hashing, password);
  return database.transaction<SignInOutcome>(async (tx) => {
    const change = await openChange(tx, request.author, personId);
    const hashes = [address, passwordHash, keptHash];
    const accepted = isRecovery
      ? await tx.run(acceptWithRecoveryCode, [personId, hashOfToken(code), ...hashes])
      : await tx.run(accept, [personId, step, ...hashes]);
    if (accepted.length === 0) return { outcome: "refused" };
    return completeSignIn(tx, { personId, change, browser: request.browser, now });
  });
}

type InvitationOutcome =
  | { outcome: "open"; person: Person; totpSecret: string }
  | { outcome: "unknown-invitation" }
  | { outcome: "too-many-tries"; waitSeconds: number };

const findInvitation = statement<{ personId: string; totpSecret: Buffer }>(
  "people.find-invitation",
  `select person_id as "personId", totp_secret as "totpSecret" from people
   where invitation_hash = $1 and invitation_expires_at > $2 and not is_disabled`,
);

export async function openInvitation(
  signIns: SignIns,
  { token, ...request }: Pick<SignInRequest, "address" | "count" | "now"> & { token: string },
): Promise<InvitationOutcome> {
  const { database, secretBox } = signIns;
  const tooMany = waitOfAddress(signIns, request);
  if (tooMany !== undefined) return tooMany;
  const [invited] = await database.run(findInvitation, [hashOfToken(token), request.now]);
  const person = invited && (await findPerson(database, invited.personId));
  if (invited === undefined || person === undefined) return { outcome: "unknown-invitation" };
  return { outcome: "open", person, totpSecret: secretBox.open(invited.totpSecret, person.personId) };
}

// The hash of the invitation is compared again: of two requests with one link, one is accepted.
const acceptInvited = statement<never>(
  "people.accept-invitation",
  `update people set password_hash = $3, totp_step = $4, known_addresses = array[$5::text], invitation_hash = null,
     invitation_expires_at = null
   where person_id = $1 and invitation_hash = $2 and not is_disabled returning person_id`,
);

/** Sets the password of an invited person, once, if the authenticator app shows the right code. */
export async function acceptInvitation(
  signIns: SignIns,
  request: Omit<SignInRequest, "email"> & { token: string },
): Promise<SignInOutcome | { outcome: "unknown-invitation" }> {
  const { token, password, code, now } = request;
  const open = await openInvitation(signIns, request);
  if (open.outcome !== "open") return open;
  const { personId } = open.person;
  const step = totpStep(open.totpSecret, code, now);
  if (step === undefined) return { outcome: "refused" };
  const passwordHash = await hashPassword(signIns.hashing, password);
  const address = addressNetwork(request.address);
  return signIns.database.transaction(async (tx) => {
    const change = await openChange(tx, request.author, personId);
    const accepted = await tx.run(acceptInvited, [personId, hashOfToken(token), passwordHash, step, address]);
    if (accepted.length === 0) return { outcome: "unknown-invitation" };
    return completeSignIn(tx, { personId, change, browser: request.browser, now });
  });
}

const findLink = statement<{ personId: string }>(
  "people.find-sign-in-link",
  'select person_id as "personId" from people where sign_in_hash = $1 and sign_in_expires_at > $2 and not is_disabled',
);
// One statement compares and uses up the link: of two requests with one link, one is accepted.
const useLink = statement<{ personId: string }>(
  "people.use-sign-in-link",
  `update people set sign_in_hash = null, sign_in_expires_at = null
   where sign_in_hash = $1 and sign_in_expires_at > $2 and not is_disabled returning person_id as "personId"`,
);

/** Signs in by a link that an operator made with the command line. */
export async function openSignInLink(
  signIns: SignIns,
  request: Pick<SignInRequest, "address" | "author" | "browser" | "count" | "now"> & { token: string },
): Promise<SignInOutcome> {
  const { token, author, browser, now } = request;
  const tooMany = waitOfAddress(signIns, request);
  if (tooMany !== undefined) return tooMany;
  return signIns.database.transaction<SignInOutcome>(async (tx) => {
    const [found] = await tx.run(findLink, [hashOfToken(token), now]);
    if (found === undefined) return { outcome: "refused" };
    const change = await openChange(tx, author, found.personId);
    if ((await tx.run(useLink, [hashOfToken(token), now])).length === 0) return { outcome: "refused" };
    return completeSignIn(tx, { ...found, change, browser, now });
  });
}

/** Opens a session of a person who has proved who they are, and ends the one that the browser had. */
export async function completeSignIn(
  tx: Transaction,
  of: { personId: string; change: OpenChange | undefined; browser: Browser; now: Date },
): Promise<Extract<SignInOutcome, { outcome: "signed-in" }>> {
  const { personId, change, browser, now } = of;
  const session = await openSession(tx, of);
  await noteDevice(tx, { personId, device: browser, now });
  const person = await findPerson(tx, personId);
  if (person === undefined) throw new Error("the person disappeared while signing in");
  await audit(tx, change);
  return { outcome: "signed-in", person, ...session };
}

/** Counts a try of an address, right or wrong: undefined if it may be made. */
export function waitOfAddress(
  { ofAddress }: Pick<SignIns, "ofAddress">,
  { address, count, now }: Pick<SignInRequest, "address" | "count" | "now">,
) {
  return waitOf(count, ofAddress, addressNetwork(address), now);
}

/** Counts a try of an account: from an address that it was signed in to from before, such tries are counted apart. */
export function waitOfAccount(
  { ofAccount }: Pick<SignIns, "ofAccount">,
  { email, address, count, now }: { email: string; address: string | undefined; count: CountCall; now: Date },
) {
  return waitOf(count, ofAccount, address === undefined ? email : `${email} ${address}`, now);
}

function waitOf(count: CountCall, limiter: RateLimiter, key: string, now: Date) {
  const waitSeconds = secondsToWait(count, limiter, key, now);
  return waitSeconds === 0 ? undefined : { outcome: "too-many-tries" as const, waitSeconds };
}

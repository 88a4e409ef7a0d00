import { argon2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import pLimit, { type LimitFunction } from "p-limit";

const derive = promisify(argon2);

/** The parameters of new hashes (OWASP: 19 MiB, two passes), and what a stored hash may ask for at most. */
const cost = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const MAX_MEMORY = 65_536;
const TAG_BYTES = 32;
const SALT_BYTES = 16;

/** Hashes at once: each takes 19 MiB and one thread of the pool, which also serves files and name look-ups. */
const MAX_AT_ONCE = 2;
/** Waiting ones; more are refused, since each takes some 30 ms. */
const MAX_WAITING = 64;

/** The hashes that this process computes. */
export type Hashing = LimitFunction;

export const openHashing = (): Hashing => pLimit(MAX_AT_ONCE);

async function inTurn<Result>(hashing: Hashing, work: () => Promise<Result>): Promise<Result> {
  const { activeCount, pendingCount } = hashing;
  if (activeCount + pendingCount >= MAX_AT_ONCE + MAX_WAITING)
    throw new TooManyHashes("too many passwords are being checked");
  return hashing(work);
}

/** More sign-ins at once than this node takes. */
export class TooManyHashes extends Error {}

/**
 * Keyboards and systems write one password in different code points, as é in one or in two: all of them are this one, as
 * RFC 8265 has it.
 */
const comparedForm = (password: string) => password.normalize("NFKC");

/** argon2id in the PHC string format, which holds its parameters: they can be raised without a change of stored hashes. */
export async function hashPassword(hashing: Hashing, password: string): Promise<string> {
  const nonce = randomBytes(SALT_BYTES);
  const message = comparedForm(password);
  const tag = await inTurn(hashing, () => derive("argon2id", { message, nonce, tagLength: TAG_BYTES, ...cost }));
  const { memory, passes, parallelism } = cost;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(nonce)}$${unpadded(tag)}`;
}

const phc = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

export type PasswordCheck = "right" | "right-in-old-form" | "wrong";

/**
 * Compares a password with a stored hash. Hashes of before were made of the password as it was typed: "right-in-old-form" asks
 * to store a new one. Without a hash it takes as long, and is wrong.
 */
export async function checkPassword(hashing: Hashing, stored: string | null, password: string): Promise<PasswordCheck> {
  const form = comparedForm(password);
  if (await isMessageOf(hashing, stored, form)) return "right";
  return form !== password && (await isMessageOf(hashing, stored, password)) ? "right-in-old-form" : "wrong";
}

async function isMessageOf(hashing: Hashing, stored: string | null, message: string): Promise<boolean> {
  const [, memory, passes, parallelism, salt = "", tag = ""] = phc.exec(stored ?? "") ?? [];
  const parameters =
    memory === undefined
      ? cost
      : { memory: Math.min(Number(memory), MAX_MEMORY), passes: Number(passes), parallelism: Number(parallelism) };
  const nonce = salt === "" ? Buffer.alloc(SALT_BYTES) : Buffer.from(salt, "base64");
  const derived = await inTurn(hashing, () =>
    derive("argon2id", { message, nonce, tagLength: TAG_BYTES, ...parameters }),
  );
  const expected = Buffer.from(tag, "base64");
  return expected.byteLength === TAG_BYTES && timingSafeEqual(derived, expected);
}

function unpadded(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64").replace(/=+$/, "");
}

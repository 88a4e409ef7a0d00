import { argon2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";

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

let running = 0;
const waiting: (() => void)[] = [];

async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  while (running >= MAX_AT_ONCE) {
    if (waiting.length >= MAX_WAITING) throw new TooManyHashes("too many passwords are being checked");
    await new Promise<void>((resolve) => waiting.push(resolve));
  }
  running += 1;
  try {
    return await work();
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
}

/** More sign-ins at once than this node takes. */
export class TooManyHashes extends Error {}

/** argon2id in the PHC string format, which holds its parameters: they can be raised without a change of stored hashes. */
export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(SALT_BYTES);
  const tag = await inTurn(() => derive("argon2id", { message: password, nonce, tagLength: TAG_BYTES, ...cost }));
  const { memory, passes, parallelism } = cost;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(nonce)}$${unpadded(tag)}`;
}

const phc = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** Whether the password is the one of a stored hash. Without a hash it takes as long, and is false. */
export async function isPasswordOf(stored: string | null, password: string): Promise<boolean> {
  const [, memory, passes, parallelism, salt = "", tag = ""] = phc.exec(stored ?? "") ?? [];
  const parameters =
    memory === undefined
      ? cost
      : { memory: Math.min(Number(memory), MAX_MEMORY), passes: Number(passes), parallelism: Number(parallelism) };
  const nonce = salt === "" ? Buffer.alloc(SALT_BYTES) : Buffer.from(salt, "base64");
  const derived = await inTurn(() =>
    derive("argon2id", { message: password, nonce, tagLength: TAG_BYTES, ...parameters }),
  );
  const expected = Buffer.from(tag, "base64");
  return expected.byteLength === TAG_BYTES && timingSafeEqual(derived, expected);
}

function unpadded(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64").replace(/=+$/, "");
}

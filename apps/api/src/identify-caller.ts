import { createHash, timingSafeEqual } from "node:crypto";
import { readSessionToken } from "./telegram-user/sign-in.ts";
import type { Caller } from "./trpc.ts";

/** Identifies the caller by the Authorization header: the bot's backend by its key, or a user by their session token. */
export function identifyCaller(
  authorization: string | undefined,
  secrets: { backendApiKey: string; sessionKey: Buffer },
  now: Date,
): Caller {
  const [, token] = /^Bearer ([\x21-\x7e]{1,512})$/i.exec(authorization ?? "") ?? [];
  if (token === undefined) return { kind: "nobody" };
  // Digests have the same length for any input: comparing them reveals nothing about the key.
  if (timingSafeEqual(digestOf(token), digestOf(secrets.backendApiKey))) return { kind: "backend" };
  const userId = readSessionToken(secrets.sessionKey, token, now);
  return userId === null ? { kind: "nobody" } : { kind: "user", userId };
}

function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

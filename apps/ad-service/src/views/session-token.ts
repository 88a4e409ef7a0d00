import { hash, timingSafeEqual } from "node:crypto";
import { randomBytes } from "@intermission/server/random-bytes";

/** 256 random bits; the database stores only their hash. */
export function newSessionToken(): string {
  return randomBytes(32).toString("base64url");
}

/** SHA-256 in hex. */
export function hashSessionToken(token: string): string {
  return hash("sha256", token, "hex");
}

/** Takes constant time for any token. `tokenHash` is the result of {@link hashSessionToken} for the session's token. */
export function isSessionToken(token: string, tokenHash: string): boolean {
  return timingSafeEqual(Buffer.from(hashSessionToken(token)), Buffer.from(tokenHash));
}

import { hash, timingSafeEqual } from "node:crypto";
import { randomBytes } from "../random-bytes.ts";

/** 256 random bits; the database keeps only their hash. */
export function newSessionToken(): string {
  return randomBytes(32).toString("base64url");
}

/** SHA-256 in hex. */
export function hashSessionToken(token: string): string {
  return hash("sha256", token, "hex");
}

/** In constant time, whatever the token. `tokenHash` is what {@link hashSessionToken} gave for the session's own. */
export function isSessionToken(token: string, tokenHash: string): boolean {
  return timingSafeEqual(Buffer.from(hashSessionToken(token)), Buffer.from(tokenHash));
}

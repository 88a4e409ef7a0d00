import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** 256 random bits; the database keeps only their hash. */
export function newSessionToken(): string {
  return randomBytes(32).toString("base64url");
}

export function hashSessionToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

export function isSessionToken(token: string, hash: Buffer): boolean {
  return timingSafeEqual(hashSessionToken(token), hash);
}

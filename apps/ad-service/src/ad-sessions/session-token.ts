import { hash, randomBytes, timingSafeEqual } from "node:crypto";

/** 256 random bits; the database keeps only their hash. */
export function newSessionToken(): string {
  return randomBytes(32).toString("base64url");
}

export function hashSessionToken(token: string): Buffer {
  return hash("sha256", token, "buffer");
}

export function isSessionToken(token: string, tokenHash: Buffer): boolean {
  return timingSafeEqual(hashSessionToken(token), tokenHash);
}

import { hash } from "node:crypto";
import { randomBytes } from "../random-bytes.ts";

/** 256 random bits; the database keeps only their hash. */
export function newSessionToken(): string {
  return randomBytes(32).toString("base64url");
}

/** SHA-256 in hex. */
export function hashSessionToken(token: string): string {
  return hash("sha256", token, "hex");
}

/** The time of the comparison can reveal no more than the hash, from which no token follows. */
export function isSessionToken(token: string, tokenHash: string): boolean {
  return hashSessionToken(token) === tokenHash;
}

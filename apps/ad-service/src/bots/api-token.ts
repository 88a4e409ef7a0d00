import { hash, randomBytes } from "node:crypto";
import bs58 from "bs58";

const tokenPattern = /^ad_[1-9A-HJ-NP-Za-km-z]{32,44}$/;

/** Creates an API token of a bot: it authenticates the publisher's requests and signs what is sent to them. */
export function newApiToken(): string {
  return `ad_${bs58.encode(randomBytes(32))}`;
}

/** Saves a database lookup for text that cannot be a token. */
export function isApiToken(text: string): boolean {
  return tokenPattern.test(text);
}

/**
 * A token has 256 random bits, so a plain hash cannot be reversed, and the duration of a lookup by it reveals nothing.
 */
export function lookupHashOf(token: string): Buffer {
  return hash("sha256", token, "buffer");
}

import { hash, timingSafeEqual } from "node:crypto";
import { randomBytes } from "@intermission/server/random-bytes";
import type { AdView } from "./ad-view.ts";

/** 256 random bits; the database stores only their hash. */
export function newSessionToken(): string {
  return randomBytes(32).toString("base64url");
}

/** SHA-256 in hex. */
export function hashSessionToken(token: string): string {
  return hash("sha256", token, "hex");
}

/** Takes constant time for any token. `tokenHash` is the result of {@link hashSessionToken} for the session token. */
export function isSessionToken(token: string, tokenHash: string): boolean {
  return timingSafeEqual(Buffer.from(hashSessionToken(token)), Buffer.from(tokenHash));
}

/**
 * Authorizes counting one click of a view, and nothing else. It is part of an address that leaves the app, where the
 * session token must never appear. Each opening changes it.
 */
function clickKey({ tokenHash }: Pick<AdView, "tokenHash">): string {
  // The hashed text has a fixed length and the result is truncated, so it needs no HMAC (17 µs with a Buffer as key; a hash 0.6).
  return hash("sha256", `click ${tokenHash}`, "base64url").slice(0, 22);
}

export function isClickKey(presented: string, view: Pick<AdView, "tokenHash">): boolean {
  const [one, other] = [Buffer.from(presented), Buffer.from(clickKey(view))];
  return one.byteLength === other.byteLength && timingSafeEqual(one, other);
}

/** `place`: the end card's picture has a landing page of its own. */
export function clickAddress(
  publicUrl: string,
  view: Pick<AdView, "viewId" | "tokenHash">,
  place?: "end-card",
): string {
  const address = `${publicUrl.replace(/\/$/, "")}/player/v1/sessions/${view.viewId}/click?key=${clickKey(view)}`;
  return place ? `${address}&place=${place}` : address;
}

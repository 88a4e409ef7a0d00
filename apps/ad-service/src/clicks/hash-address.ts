import { createHmac, hash } from "node:crypto";
import type { ClientNetworks } from "@intermission/server/client-address";
import { utcDay } from "../viewers/limit-of-viewer.ts";
import type { AddressHashes } from "./visit.ts";

const DAY_MS = 86_400_000;

/** The keys of the address hashes of one UTC day and of the day before it. */
export interface AddressKeys {
  readonly encryptionKey: Uint8Array;
  day: number | undefined;
  today: string;
  yesterday: string;
}

export function openAddressKeys(encryptionKey: Uint8Array): AddressKeys {
  return { encryptionKey, day: undefined, today: "", yesterday: "" };
}

/**
 * Hashes an address with a key of the UTC day, derived from the one in the environment: equal addresses can be counted within
 * a day, and without the key they cannot even be guessed. Of IPv6 the first 64 bits count, since a household has the rest.
 * Yesterday's hash is for limits whose time began then; it is never stored beside today's.
 */
export function hashAddress(keys: AddressKeys, { client, wider }: ClientNetworks, now: Date): AddressHashes {
  const day = Math.floor(now.getTime() / DAY_MS);
  if (day !== keys.day) {
    keys.today = keyOfDay(keys.encryptionKey, day);
    keys.yesterday = keyOfDay(keys.encryptionKey, day - 1);
    keys.day = day;
  }
  return {
    today: hashOf(keys.today, `address ${client}`),
    yesterday: hashOf(keys.yesterday, `address ${client}`),
    network: hashOf(keys.today, `network ${wider}`),
  };
}

function keyOfDay(encryptionKey: Uint8Array, day: number): string {
  const date = utcDay(new Date(day * DAY_MS));
  return createHmac("sha256", encryptionKey).update(`direct-link addresses ${date}`).digest("base64");
}

/**
 * 128 bits in hex. The key has a fixed length and half of the hash is cut off, which excludes length extension; a plain hash
 * takes a third of an HMAC's time.
 */
function hashOf(key: string, text: string): string {
  return hash("sha256", `${key}${text}`, "hex").slice(0, 32);
}

import { createHmac, hash } from "node:crypto";
import type { ClientNetworks } from "@intermission/server/client-address";

/** 128-bit hashes: of one address with the keys of two days, and of its network (/24, /48) with today's key. */
export interface AddressHashes {
  today: string;
  yesterday: string;
  network: string;
}

export type AddressHasher = (client: ClientNetworks, now: Date) => AddressHashes;

const DAY_MS = 86_400_000;

/**
 * Hashes addresses with a key of the (UTC) day, derived from the one in the environment: equal addresses can be counted
 * within a day, and without that key they cannot even be guessed. Of IPv6 the first 64 bits count, since a household
 * has the rest. Yesterday's hash is for limits whose time began then; it is never stored beside today's.
 */
export function addressHasher(encryptionKey: Uint8Array): AddressHasher {
  let day = Number.NaN;
  let keys = { today: "", yesterday: "" };
  const keyOf = (ofDay: number) => {
    const date = new Date(ofDay * DAY_MS).toISOString().slice(0, 10);
    return createHmac("sha256", encryptionKey).update(`direct-link addresses ${date}`).digest("base64");
  };
  return ({ client, wider }, now) => {
    const today = Math.floor(now.getTime() / DAY_MS);
    if (today !== day) {
      keys = { today: keyOf(today), yesterday: keyOf(today - 1) };
      day = today;
    }
    return {
      today: hashOf(keys.today, client),
      yesterday: hashOf(keys.yesterday, client),
      network: hashOf(keys.today, `network ${wider}`),
    };
  };
}

/**
 * With a secret key of fixed length and a hash cut to half, length extension is impossible; a plain hash takes a third
 * of an HMAC's time.
 */
function hashOf(key: string, text: string): string {
  return hash("sha256", `${key}${text}`, "hex").slice(0, 32);
}

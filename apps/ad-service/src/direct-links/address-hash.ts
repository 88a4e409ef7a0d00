import { createHmac, hash } from "node:crypto";
import type { ClientNetworks } from "@intermission/http-server/client-address";

/** 128 bits in hex: of one address under the keys of two days, and of its network (/24, /48) under that of today. */
export interface AddressHashes {
  today: string;
  yesterday: string;
  network: string;
}

export type AddressHasher = (client: ClientNetworks, now: Date) => AddressHashes;

const DAY_MS = 86_400_000;

/**
 * Addresses as a hash under a key of the (UTC) day, derived from the one in the environment: equal ones can be counted
 * within a day, and without that key not even guessed. Of IPv6 the first 64 bits count, since a household holds the rest.
 * That of the day before is for limits whose time began then; it is never stored beside that of today.
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

/** Behind a secret key of fixed length and cut to half, a plain hash cannot be lengthened; it takes a third of an HMAC's time. */
function hashOf(key: string, text: string): string {
  return hash("sha256", `${key}${text}`, "hex").slice(0, 32);
}

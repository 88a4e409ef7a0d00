import { createHmac, hash } from "node:crypto";
import type { ClientNetworks } from "@intermission/http-server/client-address";

/** One address under the keys of two days, and its network (/24, /48) under that of today. */
export interface AddressHashes {
  today: Buffer;
  yesterday: Buffer;
  network: Buffer;
}

export type AddressHasher = (client: ClientNetworks, now: Date) => AddressHashes;

const DAY_MS = 86_400_000;

/**
 * Addresses as a hash under a key of the (UTC) day, derived from the one in the environment: equal ones can be counted
 * within a day, and without that key not even guessed. Of IPv6 the first 64 bits count, since a household holds the rest.
 * That of the day before is for limits whose time began then; it is never stored beside that of today.
 */
export function addressHasher(encryptionKey: Uint8Array): AddressHasher {
  let day = "";
  let keys = { today: Buffer.alloc(0), yesterday: Buffer.alloc(0) };
  const keyOf = (ofDay: string) =>
    createHmac("sha256", encryptionKey).update(`direct-link addresses ${ofDay}`).digest();
  return ({ client, wider }, now) => {
    const today = dayOf(now);
    if (today !== day) {
      keys = { today: keyOf(today), yesterday: keyOf(dayOf(new Date(now.getTime() - DAY_MS))) };
      day = today;
    }
    return {
      today: hashOf(keys.today, client),
      yesterday: hashOf(keys.yesterday, client),
      network: hashOf(keys.today, `network ${wider}`),
    };
  };
}

/** Behind a secret key of fixed length and cut to half, a plain hash cannot be lengthened; it takes 3 µs, an HMAC 13. */
function hashOf(key: Buffer, text: string): Buffer {
  return hash("sha256", Buffer.concat([key, Buffer.from(text)]), "buffer").subarray(0, 16);
}

function dayOf(moment: Date): string {
  return moment.toISOString().slice(0, 10);
}

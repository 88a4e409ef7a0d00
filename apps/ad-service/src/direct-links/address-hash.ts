import { createHmac, hash } from "node:crypto";
import { addressNetwork } from "@intermission/http-server/client-address";

export type AddressHasher = (address: string, now: Date) => Buffer;

/**
 * Addresses as a hash under a key of the (UTC) day, derived from the one in the environment: equal ones can be counted
 * within a day, and without that key not even guessed. Of IPv6 the first 64 bits count, since a household holds the rest.
 */
export function addressHasher(encryptionKey: Uint8Array): AddressHasher {
  let day = "";
  let dayKey = Buffer.alloc(0);
  return (address, now) => {
    const today = now.toISOString().slice(0, 10);
    if (today !== day) {
      dayKey = createHmac("sha256", encryptionKey).update(`direct-link addresses ${today}`).digest();
      day = today;
    }
    // Behind a secret key of fixed length and cut to half, a plain hash cannot be lengthened; it takes 3 µs, an HMAC 13.
    return hash("sha256", Buffer.concat([dayKey, Buffer.from(addressNetwork(address))]), "buffer").subarray(0, 16);
  };
}

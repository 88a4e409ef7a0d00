import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts secrets that must be readable again, with a key that is not in the database. */
export interface SecretBox {
  seal(secret: string, owner: string): Buffer;
  /** Throws if the key, the owner or a single bit differs. */
  open(sealed: Buffer, owner: string): string;
}

/**
 * AES-256-GCM with a key of 32 bytes, as `version ‖ nonce ‖ tag ‖ ciphertext`. The owner (a bot's id) is authenticated,
 * so that a row copied to another bot does not open there.
 */
export function secretBox(key: Uint8Array): SecretBox {
  if (key.byteLength !== 32) throw new Error(`the key has ${key.byteLength} bytes; 32 are required`);
  return {
    seal(secret, owner) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(owner));
      const ciphertext = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
      return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), ciphertext]);
    },
    open(sealed, owner) {
      if (sealed[0] !== VERSION || sealed.byteLength < 1 + NONCE_BYTES + TAG_BYTES) {
        throw new Error("a sealed secret has a format that this version does not support");
      }
      const nonce = sealed.subarray(1, 1 + NONCE_BYTES);
      const tag = sealed.subarray(1 + NONCE_BYTES, 1 + NONCE_BYTES + TAG_BYTES);
      const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(owner)).setAuthTag(tag);
      const ciphertext = sealed.subarray(1 + NONCE_BYTES + TAG_BYTES);
      try {
        return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString("utf8");
      } catch (cause) {
        throw new Error("a stored token cannot be decrypted: ENCRYPTION_KEY is not the key it was encrypted with", {
          cause,
        });
      }
    },
  };
}

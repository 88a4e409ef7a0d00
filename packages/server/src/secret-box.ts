import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto";

const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts secrets that must be readable again, with a key that is not in the database. */
export interface SecretBox {
  /** Always with the current key. */
  seal(secret: string, owner: string): Buffer;
  /** By the current key or the previous one. Throws if the key, the owner or a single bit differs. */
  open(sealed: Buffer, owner: string): string;
  /** Whether the current key opens it. */
  isCurrent(sealed: Buffer, owner: string): boolean;
}

/** Shows whether two stores use the same key, and nothing else about it. */
export function fingerprintOfKey(key: Uint8Array): string {
  return createHmac("sha256", key).update("fingerprint of ENCRYPTION_KEY").digest("base64url").slice(0, 16);
}

/**
 * AES-256-GCM with keys of 32 bytes, as `version ‖ nonce ‖ tag ‖ ciphertext`. The owner (a bot's id) is authenticated,
 * so that a row copied to another bot does not open there. `previous` is set while the key is rotated.
 */
export function secretBox(current: Uint8Array, previous?: Uint8Array): SecretBox {
  for (const key of [current, previous]) {
    if (key !== undefined && key.byteLength !== 32)
      throw new Error(`the key has ${key.byteLength} bytes; 32 are required`);
  }
  return {
    seal(secret, owner) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", current, nonce).setAAD(Buffer.from(owner));
      const ciphertext = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
      return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), ciphertext]);
    },
    open(sealed, owner) {
      if (sealed[0] !== VERSION || sealed.byteLength < 1 + NONCE_BYTES + TAG_BYTES) {
        throw new Error("a sealed secret has a format that this version does not support");
      }
      const secret =
        openWith(current, sealed, owner) ?? (previous === undefined ? undefined : openWith(previous, sealed, owner));
      if (secret !== undefined) return secret;
      throw new Error("a stored token cannot be decrypted: ENCRYPTION_KEY is not the key it was encrypted with");
    },
    isCurrent: (sealed, owner) => openWith(current, sealed, owner) !== undefined,
  };
}

/** Undefined if the key, the owner or a bit differs. */
function openWith(key: Uint8Array, sealed: Buffer, owner: string): string | undefined {
  const nonce = sealed.subarray(1, 1 + NONCE_BYTES);
  const tag = sealed.subarray(1 + NONCE_BYTES, 1 + NONCE_BYTES + TAG_BYTES);
  const ciphertext = sealed.subarray(1 + NONCE_BYTES + TAG_BYTES);
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(owner)).setAuthTag(tag);
    return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString("utf8");
  } catch {
    return undefined;
  }
}

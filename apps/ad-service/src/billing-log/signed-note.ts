import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";

/** Text with the signatures of named keys, by C2SP signed-note, and the checkpoints of a log, by C2SP tlog-checkpoint. */

/** The type of Ed25519 signatures of notes. */
const ED25519 = 0x01;
const KEY_BYTES = 32;

/** The first four bytes of SHA-256 of the name, a line feed, the type and the public key. */
function keyId(name: string, publicKey: Uint8Array): Buffer {
  const hash = createHash("sha256").update(`${name}\n`).update(Buffer.of(ED25519)).update(publicKey);
  return hash.digest().subarray(0, 4);
}

/** A key that signs notes under a name. */
export interface NoteKey {
  readonly name: string;
  /** 32 bytes (RFC 8032). */
  readonly publicKey: Buffer;
  readonly privateKey: KeyObject;
}

/** The form in which verifiers get a key: `name+hash+key`, as Go's package note prints it. */
export function verifierKey({ name, publicKey }: Pick<NoteKey, "name" | "publicKey">): string {
  const key = Buffer.concat([Buffer.of(ED25519), publicKey]).toString("base64");
  return `${name}+${keyId(name, publicKey).toString("hex")}+${key}`;
}

/** The note with one signature. `text` ends with a line feed. */
export function signNote(text: string, { name, publicKey, privateKey }: NoteKey): string {
  if (!/\n$/.test(text) || hasControls(text))
    throw new Error("the text of a note ends with a line feed and has no other control character");
  const signature = Buffer.concat([keyId(name, publicKey), sign(null, Buffer.from(text, "utf8"), privateKey)]);
  return `${text}\n— ${name} ${signature.toString("base64")}\n`;
}

function hasControls(text: string): boolean {
  return [...text].some((letter) => letter < " " && letter !== "\n");
}

/** What a checkpoint says. */
export interface TreeHead {
  readonly origin: string;
  readonly size: number;
  readonly root: Uint8Array;
}

/** The text that is signed. */
export function checkpointText({ origin, size, root }: TreeHead): string {
  return `${origin}\n${size}\n${Buffer.from(root).toString("base64")}\n`;
}

/** The size that a checkpoint of this log states; undefined for text that is none. Signatures are not checked. */
export function sizeOfCheckpoint(note: string): { size: number; root: Buffer } | undefined {
  const [, size, root] = /^[^\n]+\n(0|[1-9]\d{0,15})\n([A-Za-z0-9+/]{43}=)\n/.exec(note) ?? [];
  return size === undefined || root === undefined
    ? undefined
    : { size: Number(size), root: Buffer.from(root, "base64") };
}

/** PKCS #8 in base64, as it is sealed, with its public key. */
export function newSecretKey(): string {
  return generateKeyPairSync("ed25519").privateKey.export({ format: "der", type: "pkcs8" }).toString("base64");
}

export function noteKeyOf(name: string, secret: string): NoteKey {
  const privateKey = createPrivateKey({ key: Buffer.from(secret, "base64"), format: "der", type: "pkcs8" });
  const spki = createPublicKey(privateKey).export({ format: "der", type: "spki" });
  return { name, publicKey: spki.subarray(spki.byteLength - KEY_BYTES), privateKey };
}

/** The proof of one entry, by C2SP tlog-proof. `extra`: the entry itself. */
export function proofText(of: {
  entry: Uint8Array;
  index: number;
  path: readonly Uint8Array[];
  checkpoint: string;
}): string {
  const lines = of.path.map((hash) => Buffer.from(hash).toString("base64"));
  const extra = Buffer.from(of.entry).toString("base64");
  return ["c2sp.org/tlog-proof@v1", `extra ${extra}`, `index ${of.index}`, ...lines, "", of.checkpoint].join("\n");
}

#!/usr/bin/env node
/**
 * Verifies what an ad service bills, against its log of billed events. One file for Node 20 or newer, without packages:
 *
 *   node verify.mjs statement statement-14-proof.json --key <verifier key> [--log https://rewards.example.com/log]
 *   node verify.mjs event     evt_….tlog-proof        --key <verifier key>
 *   node verify.mjs samples   statement-14-samples.json statement-14-proof.json --key <verifier key>
 *   node verify.mjs log       https://rewards.example.com/log --key <verifier key> [--since checkpoint.txt]
 *   node verify.mjs compare   older-checkpoint.txt newer-checkpoint.txt --key <verifier key> --log https://…/log
 *
 * A log is an address or a folder with the same files. Each line says what holds or what does not; the exit code is 0 only if
 * everything holds, 1 if something does not, 2 if it could not be checked, for example while the log's host is down. Files and
 * logs are read in parts, and so may be of any size; above a million entries their event ids are sorted in temporary files, of 24
 * bytes for each. Specifications: RFC 6962 (tree), C2SP signed-note, tlog-checkpoint, tlog-tiles, tlog-proof.
 */
import { createHash, createPublicKey, verify as verifyBytes } from "node:crypto";
import { createReadStream, createWriteStream, mkdtempSync, rmSync } from "node:fs";
import { appendFile, readFile, realpath, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";

// ---- The tree: RFC 6962, section 2.1.

const sha256 = (...parts) => parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest();
export const leafHash = (entry) => sha256(Buffer.of(0), entry);
export const nodeHash = (left, right) => sha256(Buffer.of(1), left, right);
export const emptyRoot = sha256();

/** The largest power of two below `size`. */
function splitOf(size) {
  let split = 1;
  while (split * 2 < size) split *= 2;
  return split;
}

/** The hash of a tree from its nodes from left to right. It keeps one hash for each bit of the size. */
class TreeHash {
  size = 0;
  // Complete subtrees from left to right, each larger than the next.
  #nodes = [];

  /** A complete subtree of `length` leaves, or the last one of the tree. */
  add(hash, length = 1) {
    this.size += length;
    for (; this.#nodes.at(-1)?.length === length; length *= 2) hash = nodeHash(this.#nodes.pop().hash, hash);
    this.#nodes.push({ hash, length });
  }

  root() {
    let root;
    for (const { hash } of this.#nodes.toReversed()) root = root === undefined ? hash : nodeHash(hash, root);
    return root ?? emptyRoot;
  }
}

/** The hash of a tree from the hashes of its leaves. */
export function rootOfLeaves(leaves) {
  const tree = new TreeHash();
  for (const leaf of leaves) tree.add(leaf);
  return tree.root();
}

/** Whether a proof of RFC 6962, section 2.1.1, leads from the leaf to the root. */
export function verifyInclusion({ index, size, leaf, path, root }) {
  if (!Number.isSafeInteger(index) || index < 0 || index >= size) return false;
  let [place, last, hash] = [index, size - 1, leaf];
  for (const sibling of path) {
    if (last === 0) return false;
    if (place % 2 === 1 || place === last) {
      hash = nodeHash(sibling, hash);
      while (place % 2 === 0 && place !== 0) [place, last] = [place / 2, Math.floor(last / 2)];
    } else hash = nodeHash(hash, sibling);
    [place, last] = [Math.floor(place / 2), Math.floor(last / 2)];
  }
  return last === 0 && hash.equals(root);
}

/** Whether a proof of RFC 6962, section 2.1.2, shows that the newer tree begins with the older one. */
export function verifyConsistency({ older, newer, olderRoot, newerRoot, proof }) {
  if (older > newer) return false;
  if (older === newer) return proof.length === 0 && olderRoot.equals(newerRoot);
  if (older === 0) return proof.length === 0 && olderRoot.equals(emptyRoot);
  const hashes =
    Number.isInteger(Math.log2(older)) && 2 ** Math.log2(older) === older ? [olderRoot, ...proof] : [...proof];
  let [place, last] = [older - 1, newer - 1];
  while (place % 2 === 1) [place, last] = [Math.floor(place / 2), Math.floor(last / 2)];
  let [first, second] = [hashes[0], hashes[0]];
  if (first === undefined) return false;
  for (const hash of hashes.slice(1)) {
    if (last === 0) return false;
    if (place % 2 === 1 || place === last) {
      [first, second] = [nodeHash(hash, first), nodeHash(hash, second)];
      while (place % 2 === 0 && place !== 0) [place, last] = [place / 2, Math.floor(last / 2)];
    } else second = nodeHash(second, hash);
    [place, last] = [Math.floor(place / 2), Math.floor(last / 2)];
  }
  return last === 0 && first.equals(olderRoot) && second.equals(newerRoot);
}

/** The largest subtrees of a tree that a gap consists of, from left to right; the last one of a tree may be incomplete. */
function* subtreesBetween(from, to, size) {
  let edge = 0;
  if (to === size) while (edge < from) edge += splitOf(size - edge);
  const end = to === size ? edge : to;
  for (let start = from; start < end; ) {
    let length = 1;
    while (start % (length * 2) === 0 && start + length * 2 <= end) length *= 2;
    yield length;
    start += length;
  }
  if (to === size && edge < size) yield size - edge;
}

/** The root of a tree from some of its leaves, and the hashes of all that is beside them from left to right. */
export function rootOfSome({ size, leaves, hashes }) {
  const tree = new TreeHash();
  const beside = hashes[Symbol.iterator]();
  for (const { index, hash } of [...leaves, { index: size }]) {
    for (const length of subtreesBetween(tree.size, index, size))
      tree.add(beside.next().value ?? fail("The proof has too few hashes."), length);
    if (tree.size !== index) fail("The proof has entries too many, or out of order.");
    if (hash) tree.add(hash);
  }
  if (!beside.next().done) fail("The proof has hashes too many.");
  return tree.root();
}

// ---- Notes and checkpoints: C2SP signed-note, tlog-checkpoint, tlog-proof.

class Unproved extends Error {}
const fail = (sentence) => {
  throw new Unproved(sentence);
};

const nameForm = /^[^\p{White_Space}+]+$/u;

/** Bytes of base64 in its only spelling; undefined for other text. */
function bytesOf(base64) {
  const bytes = Buffer.from(base64, "base64");
  return bytes.toString("base64") === base64 ? bytes : undefined;
}

/** A public key of 32 bytes behind its fixed head in DER (RFC 8410, section 4). */
const ed25519 = (key) =>
  createPublicKey({
    key: Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), key]),
    format: "der",
    type: "spki",
  });

const keyIdOf = (name, key) => sha256(`${name}\n`, key).subarray(0, 4);

/** A key as `name+hash+key`. Throws for another text, and for other keys than Ed25519. */
export function parseVerifierKey(text) {
  const [, name = "", id = "", encoded = ""] = /^([^+]*)\+([0-9a-fA-F]{8})\+(.+)$/s.exec(text) ?? [];
  const key = bytesOf(encoded);
  if (!nameForm.test(name) || key?.length !== 33 || key[0] !== 1) fail("The key is no Ed25519 verifier key.");
  if (keyIdOf(name, key).toString("hex") !== id.toLowerCase()) fail("The key does not have the hash that it names.");
  return { name, id: id.toLowerCase(), publicKey: ed25519(key.subarray(1)) };
}

/** Text of UTF-8. Throws for bytes that are none. */
function textOf(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.from(bytes));
  } catch {
    return fail("The file is no UTF-8.");
  }
}

const MAX_SIGNATURES = 100;

/** The text of a note that one of the keys has signed, and the names of these. Throws for every other note. */
export function openNote(bytes, keys) {
  const note = textOf(bytes);
  const end = note.lastIndexOf("\n\n");
  const hasControls = [...note].some((letter) => letter < " " && letter !== "\n");
  if (end < 0 || !note.endsWith("\n") || hasControls) fail("The note is malformed.");
  const text = note.slice(0, end + 1);
  const lines = note.slice(end + 2, -1).split("\n");
  if (lines.length > MAX_SIGNATURES) fail("The note has too many signatures.");
  const signedBy = new Set();
  for (const line of lines) {
    const [, name = "", encoded = ""] = /^— ([^ ]+) ([^ ]+)$/.exec(line) ?? [];
    const bytes = bytesOf(encoded);
    if (!nameForm.test(name) || bytes === undefined || bytes.length < 5) fail("The note has a malformed signature.");
    const id = bytes.subarray(0, 4).toString("hex");
    const key = keys.find((one) => one.name === name && one.id === id);
    if (key === undefined || signedBy.has(key.name + key.id)) continue;
    if (!verifyBytes(null, Buffer.from(text), key.publicKey, bytes.subarray(4)))
      fail(`The signature of ${name} is wrong.`);
    signedBy.add(key.name + key.id);
  }
  if (signedBy.size === 0) fail("No signature of the note is by the key.");
  return text;
}

/** The head of the tree in the text of a checkpoint. */
export function parseCheckpoint(text) {
  const [origin = "", digits = "", encoded = "", ...rest] = text.split("\n");
  const root = bytesOf(encoded);
  const size = Number(digits);
  const isWhole = rest.length > 0 && rest.at(-1) === "" && rest.slice(0, -1).every((line) => line !== "");
  if (origin === "" || !/^(0|[1-9]\d*)$/.test(digits) || !Number.isSafeInteger(size) || root?.length !== 32 || !isWhole)
    fail("The checkpoint is malformed.");
  return { origin, size, root };
}

/** The checkpoint of a log whose key is known: it names the log that the key is of. */
export function openCheckpoint(note, key) {
  const head = parseCheckpoint(openNote(note, [key]));
  return head.origin === key.name ? head : fail(`The checkpoint is of ${head.origin}, and the key of ${key.name}.`);
}

/** The parts of a `.tlog-proof`. `extra` is the entry itself. */
export function parseProof(text) {
  const end = text.indexOf("\n\n");
  const [first, ...lines] = text.slice(0, Math.max(end, 0)).split("\n");
  if (first !== "c2sp.org/tlog-proof@v1") fail("The file is no proof of a transparency log.");
  const extra = lines[0]?.startsWith("extra ") ? bytesOf(lines.shift().slice(6)) : null;
  const [, digits] = /^index (0|[1-9]\d*)$/.exec(lines.shift() ?? "") ?? [];
  const path = lines.map(bytesOf);
  const isWhole = path.every((hash) => hash?.length === 32) && extra !== undefined;
  if (digits === undefined || !isWhole || !Number.isSafeInteger(Number(digits))) fail("The proof is malformed.");
  return { extra: extra ?? undefined, index: Number(digits), path, checkpoint: text.slice(end + 2) };
}

// ---- The files of a log: C2SP tlog-tiles.

const WIDTH = 256;

/** As `tile/0/x001/234.p/5`. */
export function tilePath(level, index, width = WIDTH) {
  const digits = String(index);
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, "0").match(/\d{3}/g);
  const path = groups.map((group, place) => (place === groups.length - 1 ? group : `x${group}`)).join("/");
  return `tile/${level}/${path}${width === WIDTH ? "" : `.p/${width}`}`;
}

/** Reads a file of a log, at an address or in a folder. */
function readerOf(log) {
  return async (path) => {
    if (!/^https?:\/\//.test(log))
      return readFile(join(log, path)).catch((error) => {
        if (error.code === "ENOENT" || error.code === "ENOTDIR") fail(`The log lacks ${path}.`);
        throw error;
      });
    const answer = await fetch(`${log.replace(/\/+$/, "")}/${path}`, { signal: AbortSignal.timeout(60_000) });
    if (answer.ok) return Buffer.from(await answer.arrayBuffer());
    const sentence = `The log answers ${answer.status} for ${path}.`;
    if (answer.status === 404 || answer.status === 410) fail(sentence);
    throw Object.assign(new Error(`${sentence} Try again later.`), { code: answer.status });
  };
}

/** A tile of a tree of `size` entries; if it became full meanwhile, its beginning. */
async function readTile(read, { level, index, size }) {
  const hashes = Math.floor(size / WIDTH ** (level === "entries" ? 0 : level));
  const width = Math.min(WIDTH, hashes - index * WIDTH);
  const read1 = (of) => read(tilePath(level, index, of));
  const bytes = await read1(width).catch((error) =>
    width < WIDTH ? read1(WIDTH).catch(() => Promise.reject(error)) : Promise.reject(error),
  );
  return { bytes, width };
}

export function parseBundle(bytes) {
  const entries = [];
  for (let at = 0; at < bytes.length; ) {
    const length = at + 2 <= bytes.length ? bytes.readUInt16BE(at) : Number.POSITIVE_INFINITY;
    if (at + 2 + length > bytes.length) fail("A bundle of entries is cut off.");
    entries.push(bytes.subarray(at + 2, at + 2 + length));
    at += 2 + length;
  }
  return entries;
}

/** Bundles that are requested before they are needed. */
const PREFETCHED = 8;

/** All entries of a tree, in order, by bundles. */
async function* bundlesOf(read, size) {
  const requested = [];
  for (let [index, next] = [0, 0]; index * WIDTH < size; index++) {
    for (; next < index + PREFETCHED && next * WIDTH < size; next++) {
      const bundle = readTile(read, { level: "entries", index: next, size });
      // It is awaited below; until then its error must not end the process.
      bundle.catch(() => {});
      requested.push(bundle);
    }
    const { bytes, width } = await requested.shift();
    const entries = parseBundle(bytes);
    if (entries.length < width)
      fail(`The bundle of entries from ${index * WIDTH} on has ${entries.length} of ${width} entries.`);
    yield { from: index * WIDTH, entries: entries.slice(0, width) };
  }
}

/** The hash of the node over the leaves from `from` to before `to`, from the tiles of a tree of `size` entries. */
async function nodeOf(read, { from, to, size }) {
  const parts = [];
  for (let start = from; start < to; ) {
    let length = 1;
    while (start % (length * 2) === 0 && start + length * 2 <= to) length *= 2;
    const level = Math.floor(Math.round(Math.log2(length)) / 8);
    const first = start / WIDTH ** level;
    const index = Math.floor(first / WIDTH);
    const { bytes } = await readTile(read, { level, index, size });
    const children = [];
    for (let place = first - index * WIDTH; children.length < length / WIDTH ** level; place++)
      children.push(bytes.subarray(place * 32, place * 32 + 32));
    parts.push(rootOfLeaves(children));
    start += length;
  }
  return parts.reduceRight((right, left) => nodeHash(left, right));
}

/** PROOF(older, D[newer]) of RFC 6962, section 2.1.2, from the tiles of the newer tree. */
export async function consistencyProof(read, older, newer) {
  if (older === 0 || older === newer) return [];
  const ranges = [];
  let [from, to] = [0, newer];
  while (to !== older) {
    const middle = from + splitOf(to - from);
    ranges.unshift(older <= middle ? { from: middle, to } : { from, to: middle });
    if (older <= middle) to = middle;
    else from = middle;
  }
  if (from > 0) ranges.unshift({ from, to });
  return Promise.all(ranges.map((range) => nodeOf(read, { ...range, size: newer })));
}

// ---- Files of any length.

const folders = new Set();

/** A temporary folder, until `removeFolder` and no longer than this process. Made at once, so that no signal comes between. */
function makeFolder() {
  if (folders.size === 0) process.once("exit", removeFolders);
  const folder = mkdtempSync(join(tmpdir(), "verify-"));
  folders.add(folder);
  return folder;
}

function removeFolder(folder) {
  rmSync(folder, { recursive: true, force: true });
  folders.delete(folder);
}

function removeFolders() {
  process.off("exit", removeFolders);
  for (const folder of folders) removeFolder(folder);
}

/** A file that can be read more than once, as a proof is: what is no file, such as a pipe, is copied to one. */
async function rereadable(path) {
  const found = await stat(path);
  if (found.isDirectory()) fail(`${path} is a folder.`);
  if (found.isFile()) return path;
  const copy = join(makeFolder(), "copy");
  await pipeline(createReadStream(path), createWriteStream(copy));
  return copy;
}

/** The text of a file in parts. A file is a path, or `{ text }`. */
async function* partsOf(file) {
  if (typeof file === "object") return yield file.text;
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  try {
    for await (const bytes of createReadStream(file, { highWaterMark: 1 << 20 }))
      yield decoder.decode(bytes, { stream: true });
    yield decoder.decode();
  } catch (error) {
    if (error.code?.startsWith("ERR_ENCODING")) fail("The file is no UTF-8.");
    throw error;
  }
}

const MAX_VALUE_LETTERS = 4_000_000;

/** Where a value of JSON ends in a text; undefined if the text may end within it. */
function endOfValue(text, from) {
  const token = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]]|[^"{}[\],:\s]+|./sy;
  for (let [at, depth] = [from, 0]; at < text.length; ) {
    token.lastIndex = at;
    const [found] = token.exec(text);
    at += found.length;
    if (found === '"') return undefined;
    if (found === "{" || found === "[") depth++;
    if (found === "}" || found === "]") depth--;
    if (depth === 0 && (at < text.length || /["}\]]$/.test(found))) return at;
  }
  return undefined;
}

/** The members of a proof that are arrays. */
const LISTS = ["entries", "hashes"];

/**
 * The members of the JSON object in a file, in order, as [name, value]; of an array each element. It keeps one at a time.
 * Read to its end, it has refused a file with anything behind the object.
 */
async function* membersOf(file) {
  const parts = partsOf(file);
  let [text, at] = ["", 0];
  const more = async () => {
    const { value, done } = await parts.next();
    if (done) fail("The file is cut off.");
    text = text.slice(at) + value;
    at = 0;
    if (text.length > MAX_VALUE_LETTERS) fail("The file has a value that is too long.");
  };
  const peek = async () => {
    for (;;) {
      while (at < text.length && /\s/.test(text[at])) at++;
      if (at < text.length) return text[at];
      await more();
    }
  };
  const take = async (letters) => {
    const letter = await peek();
    if (!letters.includes(letter)) fail(`The file is no JSON: it has ${letter} instead of ${letters.join(" or ")}.`);
    at++;
    return letter;
  };
  const value = async () => {
    await peek();
    let end = endOfValue(text, at);
    for (; end === undefined; end = endOfValue(text, at)) await more();
    const found = JSON.parse(text.slice(at, end));
    at = end;
    return found;
  };
  const names = new Set();
  for (let next = await take(["{"]); next !== "}"; next = await take([",", "}"])) {
    const name = await value();
    if (names.has(name)) fail(`The file has ${name} twice.`);
    names.add(name);
    await take([":"]);
    if ((await peek()) !== "[") {
      if (LISTS.includes(name)) fail(`The file's ${name} are no list.`);
      yield [name, await value()];
      continue;
    }
    await take(["["]);
    if ((await peek()) === "]") await take(["]"]);
    else
      do yield [name, await value()];
      while ((await take([",", "]"])) === ",");
  }
  const nothing = (rest) => rest.trim() === "" || fail("The file has more text behind its end.");
  nothing(text.slice(at));
  for await (const rest of parts) nothing(rest);
}

/** The elements of one array of a file. */
async function* elementsOf(file, name) {
  for await (const [member, value] of membersOf(file)) if (member === name) yield value;
}

/** Finds what is added twice, in little memory: of each it keeps a hash and its place, above a million in temporary files. */
export class Repeats {
  static #BYTES = 24;
  static #PARTS = 256;
  #kept;
  #used = 0;
  #folder;
  // Bytes in the file of each part.
  #written = Array.from({ length: Repeats.#PARTS }, () => 0);

  constructor(limit = 1_000_000) {
    this.#kept = Buffer.alloc(Repeats.#BYTES * limit);
  }

  async add(key, place) {
    if (this.#used === this.#kept.length) await this.#spill();
    sha256(key).copy(this.#kept, this.#used, 0, 16);
    this.#kept.writeBigUInt64BE(BigInt(place), this.#used + 16);
    this.#used += Repeats.#BYTES;
  }

  /** The places of those that were added before. To be called once. Throws where what was added can no longer be read. */
  async *places() {
    if (this.#folder === undefined) return yield* this.#repeatsIn(this.#kept.subarray(0, this.#used));
    try {
      await this.#spill();
      for (const [part, length] of this.#written.entries()) {
        if (length === 0) continue;
        const records = await readFile(join(this.#folder, String(part)));
        if (records.length !== length)
          throw new Error(`a file in ${this.#folder} has ${records.length} of ${length} bytes`);
        yield* this.#repeatsIn(records);
      }
    } finally {
      removeFolder(this.#folder);
    }
  }

  async #spill() {
    this.#folder ??= makeFolder();
    const parts = Array.from({ length: Repeats.#PARTS }, () => []);
    for (let at = 0; at < this.#used; at += Repeats.#BYTES)
      parts[this.#kept[at]].push(this.#kept.subarray(at, at + Repeats.#BYTES));
    for (const [part, records] of parts.entries()) {
      if (records.length > 0) await appendFile(join(this.#folder, String(part)), Buffer.concat(records));
      this.#written[part] += records.length * Repeats.#BYTES;
    }
    this.#used = 0;
  }

  *#repeatsIn(records) {
    const heads = new BigUint64Array(records.length / Repeats.#BYTES);
    for (const place of heads.keys()) heads[place] = records.readBigUInt64BE(place * Repeats.#BYTES);
    const sorted = heads.toSorted();
    const suspects = new Set(sorted.filter((head, place) => place > 0 && head === sorted[place - 1]));
    const seen = new Set();
    for (const [place, head] of heads.entries()) {
      if (!suspects.has(head)) continue;
      const at = place * Repeats.#BYTES;
      const key = records.toString("hex", at, at + 16);
      if (seen.has(key)) yield Number(records.readBigUInt64BE(at + 16));
      seen.add(key);
    }
  }
}

// ---- What is verified.

/** Faults of entries that are named one by one. */
const MAX_NAMED = 100;

/** A list of sentences: what holds, and what does not. */
class Findings {
  sentences = [];
  holds(sentence) {
    this.sentences.push({ holds: true, sentence });
  }
  fails(sentence) {
    this.sentences.push({ holds: false, sentence });
  }
  check(isTrue, yes, no) {
    if (isTrue) this.holds(yes);
    else this.fails(no);
    return isTrue;
  }
}

const amount = (micros) => {
  const digits = String(micros < 0n ? -micros : micros).padStart(7, "0");
  return `${micros < 0n ? "-" : ""}${digits.slice(0, -6)}.${digits.slice(-6).replace(/0{1,4}$/, "")}`;
};

/** An entry as it was billed. Throws for text that is no entry. */
export function parseEntry(text) {
  let entry;
  try {
    entry = JSON.parse(text);
  } catch {}
  const isEntry = typeof entry?.kind === "string" && typeof entry.event === "string" && /^\d{1,18}$/.test(entry.price);
  return isEntry
    ? { ...entry, micros: BigInt(entry.price) }
    : fail(`An entry is no billed event: ${String(text).slice(0, 200)}`);
}

const keyOfEntry = ({ kind, event }) => `${kind === "refund" ? "refund" : "charge"} ${event}`;

/** That a statement's entries stand in the log, are billed once each, and sum to its amounts. `file`: a path, or `{ text }`. */
export async function checkStatement(file, { key, log }) {
  const found = new Findings();
  const { format, statement, checkpoint } = await headOf(file);
  if (format !== "intermission/statement-proof@1") fail("The file is no proof of a statement.");
  const head = openCheckpoint(checkpoint, key);
  found.holds(`The checkpoint of ${head.size} entries is signed by ${key.name}.`);
  const read = log === undefined ? undefined : readerOf(log);
  const facts = await factsOf(file, head);
  const isIncluded = found.check(
    facts.root?.equals(head.root),
    `All ${facts.count} entries of statement ${statement.number} stand in the log.`,
    `The entries of statement ${statement.number} are not those of the log: one was changed, left out, added or moved after it was logged.`,
  );
  if (!isIncluded && read !== undefined) await nameForeignEntries(found, { read, file, head });
  checkAmounts(found, statement, facts);
  if (read !== undefined)
    await checkAgainstLog(found, { statement, file, campaigns: facts.campaigns, head, key, read });
  return found.sentences;
}

/** The members of a proof beside its lists. */
async function headOf(file) {
  const head = {};
  for await (const [name, value] of membersOf(file)) {
    if (!LISTS.includes(name)) head[name] = value;
    if (head.format !== undefined && head.statement !== undefined && head.checkpoint !== undefined) break;
  }
  return head;
}

/** What the entries of a proof are together; `root` is of the tree that they and the hashes make, if they make one. */
async function factsOf(file, { size }) {
  const tree = new TreeHash();
  const hashes = elementsOf(file, "hashes");
  const repeats = new Repeats();
  const facts = { count: 0, charges: 0n, refunds: 0n, latest: "", campaigns: new Set(), isRepeated: false };
  let isTree = true;
  const addUpTo = async (end) => {
    for (const length of subtreesBetween(tree.size, end, size)) {
      const { value } = await hashes.next();
      isTree &&= typeof value === "string";
      if (isTree) tree.add(Buffer.from(value, "base64"), length);
      else return;
    }
  };
  for await (const { index, entry: text } of elementsOf(file, "entries")) {
    const entry = parseEntry(text);
    facts[entry.kind === "refund" ? "refunds" : "charges"] += entry.micros;
    facts.campaigns.add(entry.campaign);
    const month = String(entry.at).slice(0, 7);
    if (month > facts.latest) facts.latest = month;
    await repeats.add(keyOfEntry(entry), facts.count++);
    isTree &&= Number.isSafeInteger(index) && index >= tree.size && index < size;
    if (isTree) await addUpTo(index);
    if (isTree) tree.add(leafHash(Buffer.from(text, "utf8")));
  }
  if (isTree) await addUpTo(size);
  isTree &&= (await hashes.next()).done;
  await hashes.return();
  for await (const _ of repeats.places()) facts.isRepeated = true;
  return { ...facts, root: isTree ? tree.root() : undefined };
}

function checkAmounts(
  found,
  { chargesMicros, refundsMicros, currency, month },
  { charges, refunds, latest, isRepeated },
) {
  for (const [what, sum, stated] of [
    ["charges", charges, BigInt(chargesMicros)],
    ["refunds", refunds, BigInt(refundsMicros)],
  ])
    found.check(
      sum === stated,
      `Its ${what} are ${amount(stated)} ${currency}, the sum of its entries.`,
      `Its ${what} are ${amount(stated)} ${currency}, but its entries sum to ${amount(sum)} ${currency}.`,
    );
  found.check(!isRepeated, "Each event is billed and refunded once.", "An event is billed or refunded twice.");
  if (latest > month) found.fails(`Some of its entries are of a later month than ${month}: ${latest}.`);
}

/** Which entries differ from the leaves of the log. */
async function nameForeignEntries(found, { read, file, head }) {
  let [tile, named] = [{}, 0];
  for await (const { index, entry } of elementsOf(file, "entries")) {
    if (!(Number.isSafeInteger(index) && index >= 0 && index < head.size)) continue;
    const place = Math.floor(index / WIDTH);
    if (tile.place !== place) tile = { place, ...(await readTile(read, { level: 0, index: place, size: head.size })) };
    const offset = (index % WIDTH) * 32;
    if (leafHash(Buffer.from(entry, "utf8")).equals(tile.bytes.subarray(offset, offset + 32))) continue;
    found.fails(`Entry ${index} is another one in the log: ${entry}`);
    if (++named === MAX_NAMED) return;
  }
}

/** That the log goes on from the statement's checkpoint, and has no entry of its campaigns and month that the statement lacks. */
async function checkAgainstLog(found, { statement, file, campaigns, head, key, read }) {
  const newest = openCheckpoint(await read("checkpoint"), key);
  await checkHeads(found, { read, older: head, newer: newest });
  const tree = new TreeHash();
  const listed = elementsOf(file, "entries");
  let [next, missing] = [await listed.next(), 0];
  for await (const { from, entries } of bundlesOf(read, head.size)) {
    for (const [offset, bytes] of entries.entries()) {
      tree.add(leafHash(bytes));
      const entry = parseEntry(bytes.toString("utf8"));
      if (next.value?.index === from + offset) next = await listed.next();
      else if (campaigns.has(entry.campaign) && entry.at.startsWith(statement.month)) missing++;
    }
  }
  await listed.return();
  const isTree = found.check(
    tree.root().equals(head.root),
    `The log's ${tree.size} entries are those of the statement's checkpoint.`,
    "The log's files have other entries than the statement's checkpoint: a row was changed, dropped or moved.",
  );
  if (!isTree) return;
  found.check(
    missing === 0,
    `The log has no other entry of its campaigns in ${statement.month}.`,
    `The log has ${missing} entries of its campaigns in ${statement.month} that are not on the statement: a row was dropped, or it is billed with a later month.`,
  );
}

/** That two checkpoints are of one log: the newer tree begins with the older one. */
async function checkHeads(found, { read, older, newer }) {
  const [first, second] = older.size <= newer.size ? [older, newer] : [newer, older];
  if (first.size === second.size)
    return found.check(
      first.root.equals(second.root),
      `Both checkpoints are of the same tree of ${first.size} entries.`,
      `The log is forked: it has signed two different trees of ${first.size} entries.`,
    );
  const proof = await consistencyProof(read, first.size, second.size);
  const heads = { older: first.size, newer: second.size, olderRoot: first.root, newerRoot: second.root };
  return found.check(
    verifyConsistency({ ...heads, proof }),
    `The tree of ${second.size} entries begins with the tree of ${first.size} entries.`,
    `The log is forked or was rewritten: the tree of ${second.size} entries does not begin with the tree of ${first.size} entries.`,
  );
}

export async function compareCheckpoints(older, newer, { key, log }) {
  const found = new Findings();
  const [first, second] = [openCheckpoint(older, key), openCheckpoint(newer, key)];
  found.holds(`Both checkpoints are signed by ${key.name}.`);
  await checkHeads(found, { read: readerOf(log), older: first, newer: second });
  return found.sentences;
}

/** That one event stands in the log. */
export function checkEvent(text, { key }) {
  const found = new Findings();
  const { extra, index, path, checkpoint } = parseProof(text);
  const { size, root } = openCheckpoint(checkpoint, key);
  found.holds(`The checkpoint of ${size} entries is signed by ${key.name}.`);
  if (extra === undefined) fail("The proof does not contain its entry.");
  const entry = extra.toString("utf8");
  found.check(
    verifyInclusion({ index, size, leaf: leafHash(extra), path, root }),
    `Entry ${index} stands in the log: ${entry}`,
    `The entry does not stand in the log: ${entry}`,
  );
  return found.sentences;
}

/** That the whole log is what its checkpoint says: each entry in its place, billed once. */
export async function checkLog(log, { key, since }) {
  const found = new Findings();
  const read = readerOf(log);
  const head = openCheckpoint(await read("checkpoint"), key);
  found.holds(`The checkpoint of ${head.size} entries is signed by ${key.name}.`);
  const older = since === undefined ? undefined : openCheckpoint(since, key);
  const [tree, repeats] = [new TreeHash(), new Repeats()];
  const sums = { charges: 0n, refunds: 0n };
  let rootBefore = emptyRoot;
  for await (const { entries } of bundlesOf(read, head.size)) {
    for (const bytes of entries) {
      const entry = parseEntry(bytes.toString("utf8"));
      await repeats.add(keyOfEntry(entry), tree.size);
      sums[entry.kind === "refund" ? "refunds" : "charges"] += entry.micros;
      tree.add(leafHash(bytes));
      if (tree.size === older?.size) rootBefore = tree.root();
    }
  }
  await nameRepeats(found, { read, repeats, size: head.size });
  const isWhole = found.check(
    tree.root().equals(head.root),
    `Its ${head.size} entries are those that were signed: ${amount(sums.charges)} charged, ${amount(sums.refunds)} refunded.`,
    "The entries are not those that were signed: one was changed, left out, added or moved.",
  );
  if (!isWhole) await nameChangedLeaves(found, { read, size: head.size });
  if (older?.size > head.size) found.fails(`The log has shrunk from ${older.size} to ${head.size} entries.`);
  else if (older !== undefined)
    found.check(
      rootBefore.equals(older.root),
      `It begins with the tree of ${older.size} entries that was signed before.`,
      `The log is forked or was rewritten: it does not begin with the tree of ${older.size} entries that was signed before.`,
    );
  return found.sentences;
}

async function nameRepeats(found, { read, repeats, size }) {
  let named = 0;
  for await (const place of repeats.places()) {
    const { bytes } = await readTile(read, { level: "entries", index: Math.floor(place / WIDTH), size });
    const { event } = parseEntry(parseBundle(bytes)[place % WIDTH].toString("utf8"));
    found.fails(`Entry ${place} bills or refunds ${event} a second time.`);
    if (++named === MAX_NAMED) return;
  }
}

async function nameChangedLeaves(found, { read, size }) {
  let named = 0;
  for await (const { from, entries } of bundlesOf(read, size)) {
    const { bytes } = await readTile(read, { level: 0, index: from / WIDTH, size });
    for (const [place, entry] of entries.entries()) {
      if (leafHash(entry).equals(bytes.subarray(place * 32, place * 32 + 32))) continue;
      found.fails(`Entry ${from + place} is not the one whose hash the log has.`);
      if (++named === MAX_NAMED) return;
    }
  }
}

// ---- Samples: launches of the app that Telegram has signed.

/** Of Telegram's production servers (Bot API, "Validating data for Third-Party Use"). */
const TELEGRAM_KEY = "e7bf03a2fa4602af4580703d88dda5bb59f32ed8b02a56c187fe7d34caed242d";
const MAX_LAUNCH_AGE_MS = 24 * 3_600_000;

/** Which of `among` places a root draws, without repeats. */
export function drawPlaces(root, { among, count }) {
  const drawn = new Set();
  for (let number = 0n; drawn.size < Math.min(count, among); number++) {
    const counted = Buffer.alloc(8);
    counted.writeBigUInt64BE(number);
    drawn.add(Number(sha256(root, counted).readBigUInt64BE(0) % BigInt(among)));
  }
  return [...drawn];
}

/** When Telegram signed launch data for a bot; undefined if it did not. */
function launchOf(initData, { botId, telegramKey }) {
  const fields = new Map(new URLSearchParams(initData));
  const signature = fields.get("signature") ?? "";
  const lines = [...fields]
    .filter(([name]) => name !== "hash" && name !== "signature")
    .map(([name, value]) => `${name}=${value}`);
  const signed = Buffer.from(`${botId}:WebAppData\n${lines.sort().join("\n")}`);
  const isSigned = verifyBytes(
    null,
    signed,
    ed25519(Buffer.from(telegramKey, "hex")),
    Buffer.from(signature, "base64url"),
  );
  return isSigned ? Number(fields.get("auth_date")) * 1000 : undefined;
}

/**
 * That the views which the checkpoint draws were opened by users of Telegram. `telegramKey`: of a demo or of test servers.
 * `proofFile`: a path, or `{ text }`.
 */
export async function checkSamples(samplesFile, proofFile, { key, telegramKey = TELEGRAM_KEY }) {
  const found = new Findings();
  const opened = JSON.parse(samplesFile);
  if (opened.format !== "intermission/samples@1") fail("The file has no samples.");
  found.sentences = await checkStatement(proofFile, { key });
  if (found.sentences.some(({ holds }) => !holds)) return found.sentences;
  const { root } = openCheckpoint((await headOf(proofFile)).checkpoint, key);
  let among = 0;
  for await (const _ of entriesWithLaunch(proofFile)) among++;
  const places = drawPlaces(root, { among, count: opened.count });
  const requested = new Map(places.map((place) => [place]));
  let place = 0;
  for await (const entry of entriesWithLaunch(proofFile)) {
    if (requested.has(place)) requested.set(place, entry);
    place++;
  }
  const drawn = places.map((place) => requested.get(place));
  const isDrawn =
    opened.samples.length === drawn.length && drawn.every(({ index }, place) => opened.samples[place].index === index);
  if (
    !found.check(
      isDrawn,
      `The ${drawn.length} samples are those that the checkpoint draws.`,
      "The samples are not those that the checkpoint draws.",
    )
  )
    return found.sentences;
  let [right, gone] = [0, 0];
  for (const [place, { index, isGone, botId, salt, initData }] of opened.samples.entries()) {
    const entry = drawn[place];
    if (isGone) gone++;
    else if (sha256(Buffer.from(salt, "hex"), initData).toString("hex") !== entry.launch)
      found.fails(`Sample ${index} is not what its entry has the hash of.`);
    else {
      const launchedAt = launchOf(initData, { botId, telegramKey });
      const age = Date.parse(entry.start ?? entry.at) - launchedAt;
      if (launchedAt === undefined) found.fails(`Sample ${index} is not signed by Telegram.`);
      else if (!(age > -60_000 && age < MAX_LAUNCH_AGE_MS))
        found.fails(`Sample ${index} was launched at another time than its view.`);
      else right++;
    }
  }
  found.check(
    right + gone === drawn.length,
    `${right} of them were opened by a user whom Telegram has signed for.`,
    `Only ${right} of ${drawn.length} samples hold.`,
  );
  if (gone > 0)
    found.holds(
      `${gone} are gone: their users were erased, or they are no longer kept. Many of them are a reason to ask.`,
    );
  return found.sentences;
}

async function* entriesWithLaunch(file) {
  for await (const { index, entry } of elementsOf(file, "entries")) {
    const parsed = parseEntry(entry);
    if (parsed.launch !== undefined) yield { index, ...parsed };
  }
}

// ---- The command.

const keyed = async (options) => parseVerifierKey(options.key ?? fail("Name the log's public key with --key."));
const text = async (path) => textOf(await readFile(path));

const commands = {
  statement: async ([file], options) =>
    checkStatement(await rereadable(file), { key: await keyed(options), log: options.log }),
  event: async ([file], options) => checkEvent(await text(file), { key: await keyed(options) }),
  samples: async ([samples, proof], options) =>
    checkSamples(await text(samples), await rereadable(proof), {
      key: await keyed(options),
      ...(options["telegram-key"] && { telegramKey: options["telegram-key"] }),
    }),
  log: async ([log], options) =>
    checkLog(log, { key: await keyed(options), ...(options.since && { since: await text(options.since) }) }),
  compare: async ([older, newer], options) =>
    compareCheckpoints(await text(older), await text(newer), {
      key: await keyed(options),
      log: options.log ?? fail("Name the log with --log."),
    }),
};

async function main([name, ...words]) {
  const options = {};
  const named = [];
  while (words.length > 0) {
    const word = words.shift();
    if (word.startsWith("--")) options[word.slice(2)] = words.shift();
    else named.push(word);
  }
  const command = commands[name];
  const count = name === "compare" || name === "samples" ? 2 : 1;
  if (command === undefined || named.length !== count) {
    console.error(
      "usage: node verify.mjs statement|event|samples|log|compare <file or address> --key <verifier key> [--log <address>] [--since <file>]",
    );
    return 2;
  }
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
    process.once(signal, () => {
      removeFolders();
      process.kill(process.pid, signal);
    });
  try {
    const sentences = await command(named, options);
    for (const { holds, sentence } of sentences)
      console.log(`${holds ? "holds         " : "DOES NOT HOLD "} ${sentence}`);
    return sentences.every(({ holds }) => holds) ? 0 : 1;
  } catch (error) {
    if (error instanceof Unproved || error instanceof SyntaxError) {
      console.log(`DOES NOT HOLD  ${error.message}`);
      return 1;
    }
    console.error("COULD NOT CHECK", error.code === undefined ? error : error.message);
    return 2;
  } finally {
    removeFolders();
  }
}

const script = await realpath(process.argv[1] ?? "").catch(() => "");
if (script === fileURLToPath(import.meta.url)) process.exitCode = await main(process.argv.slice(2));

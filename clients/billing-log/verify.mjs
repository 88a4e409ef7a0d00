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
 * everything holds. Specifications: RFC 6962 (tree), C2SP signed-note, tlog-checkpoint, tlog-tiles, tlog-proof.
 */
import { createHash, createPublicKey, verify as verifyBytes } from "node:crypto";
import { readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
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

/** The hash of a tree from the hashes of its leaves. */
export function rootOfLeaves(leaves) {
  if (leaves.length === 0) return emptyRoot;
  // Complete subtrees from left to right, each larger than the next.
  const stack = [];
  for (const [index, leaf] of leaves.entries()) {
    let hash = leaf;
    for (let place = index; place % 2 === 1; place = Math.floor(place / 2)) hash = nodeHash(stack.pop(), hash);
    stack.push(hash);
  }
  return stack.reduceRight((right, left) => nodeHash(left, right));
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

/** The root of a tree from some of its leaves, and the hashes of all that is beside them from left to right. */
export function rootOfSome({ size, leaves, hashes }) {
  let [nextLeaf, nextHash] = [0, 0];
  const visit = (from, to) => {
    const { index = Number.POSITIVE_INFINITY } = leaves[nextLeaf] ?? {};
    if (index >= to) return hashes[nextHash++] ?? fail("The proof has too few hashes.");
    if (to - from === 1) return leaves[nextLeaf++].hash;
    const middle = from + splitOf(to - from);
    const left = visit(from, middle);
    return nodeHash(left, visit(middle, to));
  };
  const root = size === 0 ? emptyRoot : visit(0, size);
  if (nextLeaf !== leaves.length || nextHash !== hashes.length) fail("The proof has entries or hashes too many.");
  return root;
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
    if (!/^https?:\/\//.test(log)) return readFile(join(log, path)).catch(() => fail(`The log lacks ${path}.`));
    const answer = await fetch(`${log.replace(/\/+$/, "")}/${path}`, { signal: AbortSignal.timeout(60_000) });
    return answer.ok ? Buffer.from(await answer.arrayBuffer()) : fail(`The log answers ${answer.status} for ${path}.`);
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

/** All entries of a tree, in order. */
async function* entriesOf(read, size) {
  for (let index = 0; index * WIDTH < size; index++) {
    const { bytes, width } = await readTile(read, { level: "entries", index, size });
    const entries = parseBundle(bytes);
    if (entries.length < width)
      fail(`The bundle of entries from ${index * WIDTH} on has ${entries.length} of ${width} entries.`);
    yield* entries.slice(0, width);
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

// ---- What is verified.

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

/** Sums of entries; refunds apart. */
function sumsOf(entries) {
  let [charges, refunds] = [0n, 0n];
  for (const { kind, micros } of entries) {
    if (kind === "refund") refunds += micros;
    else charges += micros;
  }
  return { charges, refunds };
}

/** That a statement's entries stand in the log, are billed once each, and sum to its amounts. */
export async function checkStatement(file, { key, log }) {
  const found = new Findings();
  const proof = JSON.parse(file);
  if (proof.format !== "intermission/statement-proof@1") fail("The file is no proof of a statement.");
  const { statement, entries: placed } = proof;
  const head = openCheckpoint(proof.checkpoint, key);
  found.holds(`The checkpoint of ${head.size} entries is signed by ${key.name}.`);
  const isOrdered = placed.every(
    ({ index }, place) =>
      Number.isSafeInteger(index) &&
      index >= 0 &&
      index < head.size &&
      (place === 0 || index > placed[place - 1].index),
  );
  const leaves = placed.map(({ index, entry }) => ({ index, hash: leafHash(Buffer.from(entry, "utf8")) }));
  const root =
    isOrdered &&
    rootOfSome({ size: head.size, leaves, hashes: proof.hashes.map((hash) => Buffer.from(hash, "base64")) });
  const isIncluded = found.check(
    isOrdered && root.equals(head.root),
    `All ${placed.length} entries of statement ${statement.number} stand in the log.`,
    `The entries of statement ${statement.number} are not those of the log: one was changed, left out, added or moved after it was logged.`,
  );
  if (!isIncluded && log !== undefined) await nameForeignEntries(found, { read: readerOf(log), leaves, placed, head });
  checkAmounts(found, { statement, entries: placed.map(({ entry }) => parseEntry(entry)) });
  if (log !== undefined) await checkAgainstLog(found, { statement, placed, head, key, read: readerOf(log) });
  return found.sentences;
}

function checkAmounts(found, { statement, entries }) {
  const { charges, refunds } = sumsOf(entries);
  const { chargesMicros, refundsMicros, currency, month } = statement;
  for (const [what, sum, stated] of [
    ["charges", charges, BigInt(chargesMicros)],
    ["refunds", refunds, BigInt(refundsMicros)],
  ])
    found.check(
      sum === stated,
      `Its ${what} are ${amount(stated)} ${currency}, the sum of its entries.`,
      `Its ${what} are ${amount(stated)} ${currency}, but its entries sum to ${amount(sum)} ${currency}.`,
    );
  const once = new Set(entries.map(keyOfEntry));
  found.check(
    once.size === entries.length,
    "Each event is billed and refunded once.",
    "An event is billed or refunded twice.",
  );
  const late = entries.filter(({ at }) => String(at).slice(0, 7) > month);
  if (late.length > 0) found.fails(`${late.length} of its entries are of a later month than ${month}.`);
}

/** Which entries differ from the leaves of the log. */
async function nameForeignEntries(found, { read, leaves, placed, head }) {
  for (const [place, { index, hash }] of leaves.entries()) {
    if (!(index < head.size)) continue;
    const { bytes } = await readTile(read, { level: 0, index: Math.floor(index / WIDTH), size: head.size });
    const offset = (index % WIDTH) * 32;
    if (!hash.equals(bytes.subarray(offset, offset + 32)))
      found.fails(`Entry ${index} is another one in the log: ${placed[place].entry}`);
  }
}

/** That the log goes on from the statement's checkpoint, and has no entry of its campaigns and month that the statement lacks. */
async function checkAgainstLog(found, { statement, placed, head, key, read }) {
  const newest = openCheckpoint(await read("checkpoint"), key);
  await checkHeads(found, { read, older: head, newer: newest });
  const campaigns = new Set(placed.map(({ entry }) => parseEntry(entry).campaign));
  const listed = new Set(placed.map(({ index }) => index));
  let [index, missing] = [0, 0];
  const leaves = [];
  for await (const bytes of entriesOf(read, head.size)) {
    leaves.push(leafHash(bytes));
    const entry = parseEntry(bytes.toString("utf8"));
    if (campaigns.has(entry.campaign) && entry.at.startsWith(statement.month) && !listed.has(index)) missing++;
    index++;
  }
  const isTree = found.check(
    rootOfLeaves(leaves).equals(head.root),
    `The log's ${index} entries are those of the statement's checkpoint.`,
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
  const [leaves, seen] = [[], new Set()];
  const sums = { charges: 0n, refunds: 0n };
  for await (const bytes of entriesOf(read, head.size)) {
    const entry = parseEntry(bytes.toString("utf8"));
    if (seen.has(keyOfEntry(entry)))
      found.fails(`Entry ${leaves.length} bills or refunds ${entry.event} a second time.`);
    seen.add(keyOfEntry(entry));
    sums[entry.kind === "refund" ? "refunds" : "charges"] += entry.micros;
    leaves.push(leafHash(bytes));
  }
  const isWhole = found.check(
    rootOfLeaves(leaves).equals(head.root),
    `Its ${head.size} entries are those that were signed: ${amount(sums.charges)} charged, ${amount(sums.refunds)} refunded.`,
    "The entries are not those that were signed: one was changed, left out, added or moved.",
  );
  if (!isWhole) await nameChangedLeaves(found, { read, leaves, size: head.size });
  if (since !== undefined) {
    const older = openCheckpoint(since, key);
    if (older.size > head.size) found.fails(`The log has shrunk from ${older.size} to ${head.size} entries.`);
    else
      found.check(
        rootOfLeaves(leaves.slice(0, older.size)).equals(older.root),
        `It begins with the tree of ${older.size} entries that was signed before.`,
        `The log is forked or was rewritten: it does not begin with the tree of ${older.size} entries that was signed before.`,
      );
  }
  return found.sentences;
}

async function nameChangedLeaves(found, { read, leaves, size }) {
  for (let index = 0; index * WIDTH < size; index++) {
    const { bytes, width } = await readTile(read, { level: 0, index, size });
    for (let place = 0; place < width; place++) {
      const leaf = leaves[index * WIDTH + place];
      if (!leaf.equals(bytes.subarray(place * 32, place * 32 + 32)))
        found.fails(`Entry ${index * WIDTH + place} is not the one whose hash the log has.`);
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

/** That the views which the checkpoint draws were opened by users of Telegram. `telegramKey`: of a demo or of test servers. */
export async function checkSamples(samplesFile, proofFile, { key, telegramKey = TELEGRAM_KEY }) {
  const found = new Findings();
  const [opened, proof] = [JSON.parse(samplesFile), JSON.parse(proofFile)];
  if (opened.format !== "intermission/samples@1") fail("The file has no samples.");
  found.sentences = await checkStatement(proofFile, { key });
  if (found.sentences.some(({ holds }) => !holds)) return found.sentences;
  const { root } = openCheckpoint(proof.checkpoint, key);
  const hashed = proof.entries
    .map(({ index, entry }) => ({ index, ...parseEntry(entry) }))
    .filter(({ launch }) => launch !== undefined);
  const drawn = drawPlaces(root, { among: hashed.length, count: opened.count }).map((place) => hashed[place]);
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

// ---- The command.

const keyed = async (options) => parseVerifierKey(options.key ?? fail("Name the log's public key with --key."));
const text = async (path) => textOf(await readFile(path).catch(() => fail(`The file ${path} cannot be read.`)));

const commands = {
  statement: async ([file], options) =>
    checkStatement(await text(file), { key: await keyed(options), log: options.log }),
  event: async ([file], options) => checkEvent(await text(file), { key: await keyed(options) }),
  samples: async ([samples, proof], options) =>
    checkSamples(await text(samples), await text(proof), {
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
  try {
    const sentences = await command(named, options);
    for (const { holds, sentence } of sentences)
      console.log(`${holds ? "holds         " : "DOES NOT HOLD "} ${sentence}`);
    return sentences.every(({ holds }) => holds) ? 0 : 1;
  } catch (error) {
    if (!(error instanceof Unproved) && !(error instanceof SyntaxError)) throw error;
    console.log(`DOES NOT HOLD  ${error.message}`);
    return 1;
  }
}

const script = await realpath(process.argv[1] ?? "").catch(() => "");
if (script === fileURLToPath(import.meta.url)) process.exitCode = await main(process.argv.slice(2));

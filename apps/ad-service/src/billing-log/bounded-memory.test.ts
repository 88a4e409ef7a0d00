// @module-tag long
import { execFile } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { leafHash, rootOfLeaves } from "../../../../clients/billing-log/verify.mjs";
import { checkpointText, newSecretKey, noteKeyOf, signNote, verifierKey } from "./signed-note.ts";
import { bundleOf, readTilePath } from "./tiles.ts";

const verifier = fileURLToPath(new URL("../../../../clients/billing-log/verify.mjs", import.meta.url));
const SIZE = 300_000;
/** Megabytes, of which a process takes some twenty before it does anything. Held entries would be 200. */
const HEAP = 48;

const text = (index: number) =>
  JSON.stringify({
    kind: "click",
    event: `evt_${index}`,
    campaign: "cmp_1",
    at: "2026-03-01T12:00:00.000Z",
    price: "1500",
  });
const entry = (index: number) => Buffer.from(text(index));
const key = noteKeyOf("ads.test/log", newSecretKey());
let checkpoint: string;
beforeAll(() => {
  const root = rootOfLeaves(Array.from({ length: SIZE }, (_, index) => leafHash(entry(index))));
  checkpoint = signNote(checkpointText({ origin: key.name, size: SIZE, root }), key);
});

async function verify(...words: string[]): Promise<string> {
  const options = [`--max-old-space-size=${HEAP}`, verifier, ...words, "--key", verifierKey(key)];
  return (await promisify(execFile)(process.execPath, options)).stdout;
}

test("verify.mjs checks a whole log in a heap that does not hold its entries", async () => {
  const server = createServer((request, response) => {
    const path = (request.url ?? "").slice(1);
    const name = readTilePath(path);
    if (path === "checkpoint") return void response.end(checkpoint);
    if (name?.level !== "entries") return void response.writeHead(404).end();
    response.end(bundleOf(Array.from({ length: name.width }, (_, offset) => entry(name.index * 256 + offset))));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const says = await verify("log", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  expect(says).toContain("Its 300000 entries are those that were signed: 450.00 charged, 0.00 refunded.");
});

test("verify.mjs checks a statement in a heap that does not hold its proof", async () => {
  const folder = await mkdtemp(join(tmpdir(), "intermission-proof-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, "proof.json");
  const stated = {
    number: 1,
    month: "2026-03",
    currency: "USD",
    chargesMicros: String(SIZE * 1500),
    refundsMicros: "0",
  };
  const head = { format: "intermission/statement-proof@1", statement: stated, checkpoint };
  await writeFile(path, `${JSON.stringify(head).slice(0, -1)},"entries":[`);
  const file = createWriteStream(path, { flags: "a" });
  for (let index = 0; index < SIZE; index++) {
    const isTaken = file.write(`${index === 0 ? "" : ","}${JSON.stringify({ index, entry: text(index) })}`);
    if (!isTaken) await once(file, "drain");
  }
  file.end(`],"hashes":[]}`);
  await once(file, "finish");
  expect(await verify("statement", path)).toContain("All 300000 entries of statement 1 stand in the log.");
});

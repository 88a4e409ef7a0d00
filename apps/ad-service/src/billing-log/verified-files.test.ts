import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import * as verify from "../../../../clients/billing-log/verify.mjs";
import { checkpointText, newSecretKey, noteKeyOf, signNote, verifierKey } from "./signed-note.ts";

const script = fileURLToPath(new URL("../../../../clients/billing-log/verify.mjs", import.meta.url));
const key = noteKeyOf("rewards.example.com/log", newSecretKey());

/** A right proof of a statement with two views, which are the whole log. */
function proofOfTwoViews(): string {
  const at = "2026-03-01T12:00:21.000Z";
  const entries = ["evt_1", "evt_2"].map((event) =>
    JSON.stringify({ kind: "view", event, campaign: "cmp_1", at, price: "4000" }),
  );
  const root = verify.rootOfLeaves(entries.map((entry) => verify.leafHash(Buffer.from(entry))));
  return JSON.stringify({
    format: "intermission/statement-proof@1",
    statement: { number: 14, month: "2026-03", currency: "EUR", chargesMicros: "8000", refundsMicros: "0" },
    checkpoint: signNote(checkpointText({ origin: key.name, size: 2, root }), key),
    entries: entries.map((entry, index) => ({ index, entry })),
    hashes: [],
  });
}

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "verified-"));
  vi.stubEnv("TMPDIR", folder);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

/** Temporary folders of `verify.mjs` that are still there. */
const left = () => readdirSync(folder).filter((name) => name.startsWith("verify-"));

describe("the proof of a statement", () => {
  const proof = proofOfTwoViews();
  const check = (text: string) => {
    const file = join(folder, "proof.json");
    writeFileSync(file, text);
    const words = ["statement", file, "--key", verifierKey(key)];
    const { status, stdout } = spawnSync(process.execPath, [script, ...words], { encoding: "utf8" });
    return { status, stdout };
  };

  test("holds, also with white space behind it", () => {
    expect(check(proof)).toMatchObject({ status: 0, stdout: expect.not.stringContaining("DOES NOT HOLD") });
    expect(check(`${proof} \n\n`)).toMatchObject({ status: 0 });
  });

  test.each([
    ["a letter behind it", `${proof}x`, "more text behind its end"],
    ["a letter far behind it", `${proof}${" ".repeat(3_000_000)}x`, "more text behind its end"],
    ["another proof behind it", `${proof}\n${proof}`, "more text behind its end"],
    ["entries that are no list", proof.replace('"entries":[', '"entries":').replace('],"hashes"', ',"hashes"'), ""],
    [
      "one entry outside of a list",
      proof.replace(/"entries":\[(\{.*?\}),.*\],"hashes"/, '"entries":$1,"hashes"'),
      "entries are no list",
    ],
    ["hashes that are no list", proof.replace('"hashes":[]', '"hashes":"AAAA"'), "hashes are no list"],
  ])("does not hold with %s", (_, text, sentence) => {
    const { status, stdout } = check(text);
    expect(status).toBe(1);
    expect(stdout).toContain("DOES NOT HOLD");
    expect(stdout).toContain(sentence);
  });

  test("holds through a pipe too, of which no copy is left", () => {
    const file = join(folder, "proof.json");
    writeFileSync(file, proof);
    const pipe = `cat "$1" | "$2" "$3" statement /dev/stdin --key "$4"`;
    const words = ["-c", pipe, "sh", file, process.execPath, script, verifierKey(key)];
    const { status, stdout } = spawnSync("sh", words, { encoding: "utf8" });
    expect({ status, stdout }).toMatchObject({ status: 0, stdout: expect.stringContaining("All 2 entries") });
    expect(left()).toEqual([]);
  });

  test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("%s ends the check and leaves nothing", async (signal) => {
    const pipe = join(folder, "pipe");
    spawnSync("mkfifo", [pipe]);
    // For both, so that neither this nor the reader waits for the other end; nothing is ever written.
    const end = openSync(pipe, "r+");
    const child = spawn(process.execPath, [script, "statement", pipe, "--key", verifierKey(key)], { stdio: "inherit" });
    try {
      await vi.waitUntil(() => left().length === 1, { timeout: 10_000 });
      child.kill(signal);
      expect(await once(child, "exit")).toEqual([null, signal]);
      expect(left()).toEqual([]);
    } finally {
      child.kill("SIGKILL");
      closeSync(end);
    }
  });
});

test.each([
  [503, 2],
  [404, 1],
])("a log whose host answers %i: exit code %i", async (status, code) => {
  const server = createServer((_request, response) => response.writeHead(status).end());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/log`;
  const child = spawn(process.execPath, [script, "log", address, "--key", verifierKey(key)], { stdio: "ignore" });
  expect(await once(child, "exit")).toEqual([code, null]);
  server.close();
});

describe("what is added twice", () => {
  const filled = async () => {
    const repeats = new verify.Repeats(10);
    for (let place = 0; place < 100; place++) await repeats.add(String(place % 60), place);
    return repeats;
  };
  const firstOf = async (repeats: verify.Repeats) => {
    for await (const place of repeats.places()) return place;
    return undefined;
  };
  const partsIn = (folderName: string) =>
    readdirSync(join(folder, folderName)).map((part) => join(folder, folderName, part));

  test("is not missed where a file of it can no longer be read", async () => {
    for (const spoil of [(part: string) => rmSync(part), (part: string) => truncateSync(part)]) {
      const repeats = await filled();
      const [name = ""] = left();
      for (const part of partsIn(name)) spoil(part);
      await expect(firstOf(repeats)).rejects.toThrow();
      expect(left()).toEqual([]);
    }
  });

  test("leaves no files once it was listed, or its list was left early", async () => {
    const repeats = await filled();
    expect(left()).toHaveLength(1);
    expect(await firstOf(repeats)).toBeGreaterThanOrEqual(60);
    expect(left()).toEqual([]);
  });
});

// @module-tag long
import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeVersions } from "@intermission/testing/node-versions";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { migrations } from "../src/migrations.ts";
import { startTestApi, type TestApi, testConfig } from "./fixtures/api-fixture.ts";

const nodes = await nodeVersions();
const page = readFileSync(join(import.meta.dirname, "../../../docs/integrate.md"), "utf8");
const [, snippet = ""] = /^```ts file=watch\.ts\n(.*?)^```$/ms.exec(page) ?? [];

let store: TestDatabase;
let api: TestApi;
let folder: string;
beforeAll(async () => {
  store = await openTestDatabase({ schema: "api", migrations });
  api = await startTestApi(store.database);
  folder = mkdtempSync(join(tmpdir(), "intermission-watch-"));
  mkdirSync(join(folder, "node_modules/@trpc"), { recursive: true });
  for (const name of ["eventsource", "@trpc/client", "@trpc/server"])
    symlinkSync(realpathSync(join(import.meta.dirname, "../node_modules", name)), join(folder, "node_modules", name));
  const script = stripTypeScriptTypes(snippet.replace("https://api.example.com", api.url));
  writeFileSync(join(folder, "watch.mjs"), script);
});
afterAll(async () => {
  await api.stop();
  await store.dispose();
  rmSync(folder, { recursive: true, force: true });
});

/** What the snippet wrote, once it is complete. */
function cursor(): string {
  const file = join(folder, "rewards-cursor.txt");
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

/** Runs the snippet until it has printed what is expected. */
async function runUntil(binary: string, expected: string, meanwhile: () => Promise<unknown>): Promise<void> {
  const env = { PATH: process.env.PATH, BACKEND_API_KEY: testConfig.backendApiKey };
  const child = spawn(binary, ["watch.mjs"], { cwd: folder, env });
  const before = cursor();
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  const ended = new Promise((resolve) => child.once("close", resolve));
  try {
    await meanwhile();
    await expect.poll(() => output, { timeout: 20_000, interval: 50 }).toBe(expected);
    // The last cursor is written after its line.
    await expect.poll(cursor, { timeout: 20_000, interval: 50 }).not.toBe(before);
  } finally {
    child.kill();
    await ended;
  }
}

if (nodes.every(([version]) => version !== "20"))
  test("NOT TESTED ON NODE 20: none is on the path", ({ skip }) => skip());

test.each(nodes)(
  "the snippet that watches rewards by tRPC has each entry once on Node %s, also after a restart",
  async (version, binary) => {
    rmSync(join(folder, "rewards-cursor.txt"), { force: true });
    const client = api.client();
    const { entries } = await client.rewards.list.query({ limit: 100 });
    const lines = entries.reverse().map(({ entryId, userId, amount }) => `${entryId} ${userId} ${amount}\n`);
    const earn = (userId: string) =>
      api.deliver({ event: "rewarded", user_tg_id: userId, event_id: `evt_${userId}`, code: `Code${userId}` });
    const [first, second] = [`${version}1`, `${version}2`];
    const count = entries.length;
    await runUntil(binary, `${lines.join("")}${count + 1} ${first} 10\n`, () => earn(first));
    await runUntil(binary, `${count + 2} ${second} 10\n`, () => earn(second));
  },
);

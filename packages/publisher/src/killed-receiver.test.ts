// @module-tag enlarged
// @module-tag long
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sign, signStandardWebhook } from "@intermission/ad-core/signature";
import { afterAll, beforeAll, expect, test } from "vitest";

const token = "ad_test";
const kills = process.env.LONG_TESTS === "true" ? 200 : 8;
const folder = join(tmpdir(), `intermission-receiver-${randomUUID()}`);
beforeAll(() => void mkdirSync(folder));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const file = join(folder, "bot.sqlite");
const source = (name: string) => JSON.stringify(join(import.meta.dirname, name));
/**
 * A bot's receiver: each event is a coin, which is committed with its event, and a note, which is not. It is slow between the
 * steps, so that kills find it in the middle.
 */
const receiver = `
  import { createServer } from "node:http";
  import { DatabaseSync } from "node:sqlite";
  import { setTimeout as wait } from "node:timers/promises";
  import { toNodeHandler } from ${source("node.ts")};
  import { sqliteStore } from ${source("stores.ts")};
  import { webhook } from ${source("webhook.ts")};
  const database = new DatabaseSync(${JSON.stringify(file)});
  database.exec("create table if not exists coins (event_id text); create table if not exists notes (event_id text)");
  const pay = database.prepare("insert into coins values (?)");
  const note = database.prepare("insert into notes values (?)");
  const store = sqliteStore(database, { leaseMs: 300 });
  const handler = webhook(async (event) => {
    note.run(event.eventId);
    await wait(Math.random() * 3);
    await store.commit(event, () => pay.run(event.eventId));
    await wait(Math.random() * 3);
  }, { tokens: ${JSON.stringify(token)}, store });
  const server = createServer(toNodeHandler(handler));
  server.listen(0, "127.0.0.1", () => console.log(server.address().port));
`;

let running: { child: ChildProcess; url: string } | undefined;
async function start(): Promise<void> {
  const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", receiver], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const port = await new Promise<string>((resolve) =>
    child.stdout.once("data", (line) => resolve(String(line).trim())),
  );
  running = { child, url: `http://127.0.0.1:${port}/webhook` };
}

async function killAndStart(): Promise<void> {
  const { child } = running ?? {};
  const ended = new Promise((resolve) => child?.once("close", resolve));
  child?.kill("SIGKILL");
  await ended;
  await start();
}

/** Sends an event as the ad service does: again and again, until it is answered 200. */
async function deliver(eventId: string): Promise<void> {
  const body = Buffer.from(JSON.stringify({ event: "rewarded", event_id: eventId, user_tg_id: "42" }));
  for (;;) {
    const timestampSeconds = Math.floor(Date.now() / 1000);
    const headers = {
      "x-signature": sign(body, token),
      ...signStandardWebhook({ id: eventId, timestampSeconds, body, tokens: [token] }),
    };
    const response = await fetch(running?.url ?? "", { method: "POST", headers, body }).catch(() => undefined);
    if (response?.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

test("a receiver that is killed at any moment pays each event once with commit, and does all else at least once", {
  timeout: 60_000 + kills * 20_000,
}, async () => {
  await start();
  let delivered = 0;
  let isOver = false;
  const senders = Array.from({ length: 4 }, async (_, sender) => {
    for (let count = 0; !isOver; count++) {
      await deliver(`evt_${sender}_${count}`);
      delivered += 1;
    }
  });
  for (let kill = 0; kill < kills; kill++) {
    // Once it works, at any moment of a later event.
    const before = delivered;
    await expect.poll(() => delivered, { timeout: 30_000, interval: 5 }).toBeGreaterThan(before);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 30));
    await killAndStart();
  }
  isOver = true;
  await Promise.all(senders);
  running?.child.kill("SIGKILL");
  const database = new DatabaseSync(file);
  const counts = database.prepare("select count(*) as coins, count(distinct event_id) as events from coins").get();
  const { notes, noted } =
    database.prepare("select count(*) as notes, count(distinct event_id) as noted from notes").get() ?? {};
  const left = database.prepare("select count(*) as claims from handled_ad_events_claims").get();
  database.close();
  expect(delivered).toBeGreaterThanOrEqual(kills);
  expect(counts).toEqual({ coins: delivered, events: delivered });
  // A handler that was killed before its commit runs again, one that was killed afterwards does not.
  expect(noted).toBe(delivered);
  expect(Number(notes)).toBeLessThanOrEqual(delivered + kills * 4);
  expect(left).toEqual({ claims: 0 });
});

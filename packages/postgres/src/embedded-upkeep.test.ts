import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { DatabaseStore } from "./database-store.ts";
import { startEmbeddedUpkeep } from "./embedded-upkeep.ts";
import { openEmbeddedStore } from "./open-embedded-store.ts";

let dataDirectory = "";
let store: DatabaseStore;
beforeAll(async () => {
  dataDirectory = mkdtempSync(join(tmpdir(), "upkeep-"));
  store = await openEmbeddedStore({ dataDirectory, schema: "shop", logger: undefined });
  await store.pool.query('create schema shop; create table shop."odd Name" (id int primary key, text text)');
});
afterAll(async () => {
  await store.close();
  rmSync(dataDirectory, { recursive: true, force: true });
});

const lookEverySeconds = 0.05;
const never = 1_000_000;
const warnings: string[] = [];
const logger = { info() {}, warn: (_facts: object, message: string) => warnings.push(message) };
const checkpointAt = async () => {
  const { rows } = await store.pool.query("select redo_lsn::text as place from pg_control_checkpoint()");
  return rows[0]?.place;
};
const write = () =>
  store.pool.query(
    `insert into shop."odd Name" select id, repeat('x', 100) from generate_series(1, 3000) id on conflict (id) do update set text = excluded.text`,
  );

test("the log is cut once enough was written, at rest never", async () => {
  const stop = startEmbeddedUpkeep(store.pool, "shop", logger, {
    ...{ lookEverySeconds, checkpointEverySeconds: 0, checkpointAtBytes: never, vacuumEverySeconds: never },
  });
  await write();
  const before = await checkpointAt();
  await expect.poll(checkpointAt).not.toBe(before);
  await wait(500);
  const atRest = await checkpointAt();
  await wait(500);
  expect(await checkpointAt()).toBe(atRest);
  await stop();
  await write();
  await wait(300);
  expect(await checkpointAt()).toBe(atRest);
  expect(warnings).toEqual([]);
});

test("what updates leave behind is vacuumed, and the planner learns of the rows", async () => {
  const stop = startEmbeddedUpkeep(store.pool, "shop", logger, {
    ...{ lookEverySeconds, checkpointEverySeconds: never, checkpointAtBytes: never, vacuumEverySeconds: 0 },
  });
  await write();
  await expect
    .poll(async () => (await store.pool.query("select reltuples from pg_class where relname = 'odd Name'")).rows)
    .toEqual([{ reltuples: 3000 }]);
  await stop();
  expect(warnings).toEqual([]);
});

import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "@intermission/postgres/open-database";
import { createServerDatabase } from "@intermission/testing/test-database";
import { expect, onTestFinished, test } from "vitest";
import { LAST_BACKUP_FILE, machineMetrics } from "./machine-metrics.ts";
import { metricsRegistry } from "./metrics.ts";

test("a scrape has the room, both clocks and the last backup; without the database or a backup these are absent", async () => {
  const { url, drop } = await createServerDatabase();
  onTestFinished(drop);
  const folder = mkdtempSync(join(tmpdir(), "intermission-machine-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const database = await openDatabase({ databaseUrl: url, dataDirectory: "", schema: "shop", migrations: {} });
  const scrapeOf = (dataDirectory: string) => {
    const registry = metricsRegistry({ service: "test", version: "0" });
    machineMetrics(registry, { database, dataDirectory, now: () => new Date(1_700_000_000_000) });
    return registry.metrics();
  };
  const before = await scrapeOf(folder);
  expect(before).toMatch(/^intermission_database_bytes \d{7,}$/m);
  expect(before).toMatch(/^intermission_disk_free_bytes \d+$/m);
  expect(before).toMatch(/^intermission_disk_size_bytes \d+$/m);
  expect(before).toContain('intermission_clock_timestamp_seconds{clock="database"} 1700000000\n');
  expect(before).not.toContain('intermission_last_backup_timestamp_seconds{kind="backup"}');

  writeFileSync(join(folder, LAST_BACKUP_FILE), "");
  utimesSync(join(folder, LAST_BACKUP_FILE), 1_600_000_000, 1_600_000_000);
  expect(await scrapeOf(folder)).toContain('intermission_last_backup_timestamp_seconds{kind="backup"} 1600000000\n');

  await database.close();
  const after = await scrapeOf(join(folder, "gone"));
  for (const name of [
    "intermission_database_bytes",
    "intermission_disk_free_bytes",
    "intermission_last_backup_timestamp_seconds",
  ])
    expect(after).not.toMatch(new RegExp(`^${name}[ {]`, "m"));
});

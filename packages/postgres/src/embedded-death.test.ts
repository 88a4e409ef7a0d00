// @module-tag long
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { copyEmptyStore } from "@intermission/testing/test-database";
import { expect, test } from "vitest";
import { openDatabase } from "./open-database.ts";
import type { StoreFault } from "./store-faults.ts";

test.each([
  ["a checkpoint that panics", "global", "checkpoint"],
  ["a statement whose commit panics", "pg_wal", "insert into things select generate_series(1, 400000)"],
  ["a vacuum that panics", "pg_wal", "vacuum full things"],
])(
  "%s ends the engine: its end is reported once with the reason, and no statement hangs",
  async (_name, lost, statement) => {
    const dataDirectory = mkdtempSync(join(tmpdir(), "death-"));
    await copyEmptyStore(join(dataDirectory, "postgres"));
    const deaths: StoreFault[] = [];
    const database = await openDatabase({
      ...{ dataDirectory, schema: "shop", migrations: { "0001": "create table things (id int)" } },
      onDeath: (fault) => deaths.push(fault),
    });
    try {
      const ask = (text: string) => database.run({ name: "", text }, []);
      await ask("insert into things select generate_series(1, 600000)");
      rmSync(join(dataDirectory, "postgres", lost), { recursive: true });
      await expect(ask(statement)).rejects.toThrow();
      await expect.poll(() => deaths.length, { timeout: 20_000 }).toBe(1);
      expect(deaths[0]?.message).toMatch(/the embedded database in .*death-.* has failed \(PANIC: .*start again/);
      await expect(ask("select 1")).rejects.toThrow();
      await expect(database.transaction((tx) => tx.run({ name: "", text: "select 1" }, []))).rejects.toThrow();
      expect(deaths).toHaveLength(1);
    } finally {
      await database.close();
      rmSync(dataDirectory, { recursive: true, force: true });
    }
  },
  120_000,
);

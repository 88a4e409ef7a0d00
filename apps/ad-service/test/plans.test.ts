// @module-tag long
import { join } from "node:path";
import { knownStatements } from "@intermission/postgres/open-database";
import { describeStatements, findRowFaults } from "@intermission/testing/check-rows";
import { readyToFill } from "@intermission/testing/fill-tables";
import { keepPlans, loadStatements } from "@intermission/testing/keep-plans";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { findWidenedFaults } from "@intermission/testing/widen-tables";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { crashStatements } from "../../../e2e/kill/crash-steps.ts";
import { migrations } from "../src/migrations.ts";

describe("statements", () => {
  let store: TestDatabase;
  beforeAll(async () => {
    await loadStatements(join(import.meta.dirname, "../src"), /^(main|cli)\.ts$/);
    store = await openTestDatabase({ schema: "ad_service", migrations, poolSize: 1 });
  });
  afterAll(() => store.dispose());

  test("each statement can be prepared on the schema", async () => {
    const { columns, faults } = await describeStatements(store.databaseUrl, "ad_service");
    expect(faults).toEqual([]);
    expect(columns.size).toBeGreaterThan(150);
  });

  test("the statements at which the kill scripts end this server exist, so that they are reached", () => {
    const names = new Set(knownStatements().map(({ name }) => name));
    expect(crashStatements("ad-service").filter((name) => !names.has(name))).toEqual([]);
  });

  test("each statement returns the columns of its row type", { tags: "long", timeout: 240_000 }, async () => {
    const { columns } = await describeStatements(store.databaseUrl, "ad_service");
    expect(await findRowFaults(join(import.meta.dirname, ".."), columns)).toEqual([]);
  });

  test("seconds after the tables have grown, each look-up uses its best index", {
    tags: "long",
    timeout: 240_000,
  }, async () => {
    const fill = await readyToFill(store.database, "ad_service");
    const faults = await keepPlans(store.database, {
      schema: "ad_service",
      small: ["bots", "endpoints", "campaigns", "task_bots", "task_channels"],
    });
    // The rows are random: they sum to nothing.
    const text = "alter table money_entries disable trigger money_entries_balance";
    await store.database.run({ name: "", text }, []);
    await fill(20_000);
    await expect.poll(faults, { timeout: 60_000 }).toEqual([]);
  });

  // The cost of deduplicated entries shows only after thousands of claims (docs/decisions/stores.md), so the test checks the setting
  // itself.
  test("the index of waiting deliveries is not deduplicated", async () => {
    const text = `select reloptions as settings from pg_inherits join pg_class on oid = inhrelid
      where inhparent = 'deliveries_due'::regclass`;
    expect(await store.database.run({ name: "test-settings-of-index", text }, [])).toEqual([
      { settings: ["deduplicate_items=off"] },
    ]);
  });

  test("each statement still runs in a session after a later version has added a column to every table", async () => {
    const own = await openTestDatabase({ schema: "ad_service", migrations, poolSize: 1 });
    onTestFinished(() => own.dispose());
    expect(await findWidenedFaults(own.database, "ad_service")).toEqual([]);
  });
});

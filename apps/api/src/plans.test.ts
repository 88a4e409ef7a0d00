import { readyToFill } from "@intermission/postgres/fill-tables";
import { keepPlans, loadStatements } from "@intermission/postgres/keep-plans";
import { bothTestDatabases, openTestDatabase, type TestDatabase } from "@intermission/postgres/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { migrations } from "./migrations.ts";

describe.each(bothTestDatabases())("statements on the %s store", (kind) => {
  let store: TestDatabase<unknown>;
  beforeAll(async () => {
    await loadStatements(import.meta.dirname, /^(main|cli|test-api)\.ts$/);
    store = await openTestDatabase<unknown>({ kind, schema: "api", migrations, poolSize: 1 });
  });
  afterAll(() => store.dispose());

  test("seconds after the tables have grown, each look-up goes through its best index", async () => {
    const fill = await readyToFill(store.database, "api");
    const faults = await keepPlans(store.database, { schema: "api", small: [] });
    await fill(20_000);
    await expect.poll(faults, { timeout: 20_000 }).toEqual([]);
  });
});

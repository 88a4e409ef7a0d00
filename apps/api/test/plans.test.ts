import { join } from "node:path";
import { readyToFill } from "@intermission/testing/fill-tables";
import { keepPlans, loadStatements } from "@intermission/testing/keep-plans";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { migrations } from "../src/migrations.ts";

describe("statements", () => {
  let store: TestDatabase;
  beforeAll(async () => {
    await loadStatements(join(import.meta.dirname, "../src"), /^(main|cli)\.ts$/);
    store = await openTestDatabase({ schema: "api", migrations, poolSize: 1 });
  });
  afterAll(() => store.dispose());

  test("seconds after the tables have grown, each look-up uses its best index", { tags: "long" }, async () => {
    const fill = await readyToFill(store.database, "api");
    const faults = await keepPlans(store.database, { schema: "api", small: [] });
    await fill(20_000);
    await expect.poll(faults, { timeout: 20_000 }).toEqual([]);
  });
});

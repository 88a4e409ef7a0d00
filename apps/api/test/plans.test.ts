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
    store = await openTestDatabase({ schema: "api", migrations, poolSize: 1 });
  });
  afterAll(() => store.dispose());

  test("each statement can be prepared on the schema", async () => {
    const { columns, faults } = await describeStatements(store.databaseUrl, "api");
    expect(faults).toEqual([]);
    expect(columns.size).toBeGreaterThan(25);
  });

  test("the statements at which the kill scripts end this server exist, so that they are reached", () => {
    const names = new Set(knownStatements().map(({ name }) => name));
    expect(crashStatements("api").filter((name) => !names.has(name))).toEqual([]);
  });

  test("each statement returns the columns of its row type", { tags: "long", timeout: 240_000 }, async () => {
    const { columns } = await describeStatements(store.databaseUrl, "api");
    expect(await findRowFaults(join(import.meta.dirname, ".."), columns)).toEqual([]);
    const changed = new Map(columns)
      .set("ledger.balance", [{ name: "total", type: "bigint" }])
      .set("two-field.find-code", [{ name: "code", type: "integer" }])
      .set("vanished", []);
    expect((await findRowFaults(join(import.meta.dirname, ".."), changed)).join("\n")).toMatch(
      /^vanished: no call.*ledger.balance: no column balance.*ledger.balance: no field for the column total.*two-field.find-code: another type of code"/s,
    );
  });

  test("seconds after the tables have grown, each look-up uses its best index", { tags: "long" }, async () => {
    const fill = await readyToFill(store.database, "api");
    const faults = await keepPlans(store.database, { schema: "api", small: [] });
    await fill(20_000);
    await expect.poll(faults, { timeout: 20_000 }).toEqual([]);
  });

  test("each statement still runs in a session after a later version has added a column to every table", async () => {
    const own = await openTestDatabase({ schema: "api", migrations, poolSize: 1 });
    onTestFinished(() => own.dispose());
    expect(await findWidenedFaults(own.database, "api")).toEqual([]);
  });
});

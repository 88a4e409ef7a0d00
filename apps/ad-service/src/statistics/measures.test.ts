import { statement } from "@intermission/postgres/open-database";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { migrations } from "../migrations.ts";
import type { Milestone } from "../views/accept-progress.ts";
import { sources } from "./fact-sources.ts";
import {
  type Measure,
  measureOfEvent,
  measureOfMilestone,
  measureOfRequest,
  measureRows,
  measures,
  moneyColumns,
  reasonedMeasures,
} from "./measures.ts";
import { audienceTables, reasonTables, sumTables } from "./sum-tables.ts";

const constraint = statement<{ definition: string }>(
  "test.check-constraint-of-measures",
  `select pg_get_constraintdef(oid) as definition from pg_constraint
   where contype = 'c' and conrelid = ('ad_service.' || $1)::regclass and conname like '%\\_' || $2 || '\\_check'`,
);

describe("what is counted", () => {
  let store: TestDatabase;
  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());

  const reasonTableNames = Object.values(reasonTables).map(({ table }) => table);
  test.each<[table: string, column: string, words: Readonly<Record<string, unknown>>]>([
    ["ad_requests", "outcome", measureOfRequest],
    // The compiler refuses a milestone of views that has no measure.
    ["ad_milestones", "milestone", measureOfMilestone satisfies Record<Milestone, Measure>],
    // It is counted as a refund.
    ["events", "event", { ...measureOfEvent, task_reversed: "refunds" }],
    ...reasonTableNames.map((table): [string, string, Record<string, true>] => [
      table,
      "measure",
      Object.fromEntries(reasonedMeasures.map((measure) => [measure, true as const])),
    ]),
  ])("the database accepts in %s.%s the words that have a measure, and no others", async (table, column, words) => {
    const [row] = await store.database.run(constraint, [table, column]);
    const accepted = [...(row?.definition ?? "").matchAll(/'([^']*)'/g)].map(([, word]) => word);
    expect(accepted.toSorted()).toEqual(Object.keys(words).toSorted());
  });

  test("each measure is counted from a source", () => {
    const counted = sources.map((source) => ("read" in source ? source.read : source.readCounts).text).join("\n");
    expect(measures.filter((measure) => !counted.includes(`'${measure}'`))).toEqual([]);
  });

  test.each([sumTables, audienceTables].flatMap((tables) => Object.values(tables).map(({ table }) => table)))(
    "%s has a column for each measure and for money, and no others",
    async (table) => {
      const text =
        "select column_name as name, data_type as type from information_schema.columns where table_name = $1";
      const columns = await store.database.run<{ name: string; type: string }>({ name: "", text }, [table]);
      const counted = columns.filter(({ type }) => type === "integer" || type === "bigint").map(({ name }) => name);
      expect(counted.toSorted()).toEqual(
        [...Object.values(measureRows).map(({ column }) => column), ...moneyColumns].toSorted(),
      );
    },
  );
});

import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { statement } from "./open-database.ts";
import { rowParameters } from "./row-parameters.ts";

const parameters = rowParameters({
  id: "integer",
  big: "bigint",
  share: "double precision",
  name: "text",
  is_on: "boolean",
  at: "timestamptz",
  facts: "jsonb",
  hash: "bytea",
  numbers: "integer[]",
  words: "text[]",
});
const read = statement<Record<string, unknown>>("test.row-parameters", `select * from (${parameters.table}) as input`);

const bytes = (hex: string) => Buffer.from(hex, "hex");

describe("rows as parameters", () => {
  let store: TestDatabase;
  beforeAll(async () => {
    store = await openTestDatabase({ schema: "rows", migrations: {} });
  });
  afterAll(() => store.dispose());

  test("each value is read back unchanged, with any characters", async () => {
    const odd = `"quoted", {braces}, back\\slash\nNULL 'single' – ☃`;
    const rows = [
      {
        id: 1,
        big: Number.MAX_SAFE_INTEGER,
        share: 0.1,
        name: odd,
        is_on: true,
        at: new Date(1795352804507),
        facts: { [odd]: odd },
        hash: "00ff5c22",
        numbers: [1, -2],
        words: [odd],
      },
      {
        id: 2,
        big: -1,
        share: -1e-300,
        name: "",
        is_on: false,
        at: new Date(1),
        facts: {},
        hash: "",
        numbers: [],
        words: ["", "NULL"],
      },
      {
        id: 3,
        big: null,
        share: null,
        name: "NULL",
        is_on: null,
        at: null,
        facts: null,
        hash: null,
        numbers: null,
        words: [],
      },
    ];
    expect(await store.database.run(read, parameters.values(rows))).toEqual(
      rows.map((row) => ({ ...row, hash: row.hash === null ? null : bytes(row.hash) })),
    );
  });

  test("a missing value is null, and an empty list gives no rows", async () => {
    expect(await store.database.run(read, parameters.values([{ id: 1 }]))).toEqual([
      {
        id: 1,
        big: null,
        share: null,
        name: null,
        is_on: null,
        at: null,
        facts: null,
        hash: null,
        numbers: null,
        words: null,
      },
    ]);
    expect(await store.database.run(read, parameters.values([]))).toEqual([]);
  });

  test("every millisecond from 1970 to 2200 is stored exactly", async () => {
    const last = Date.UTC(2200, 0);
    const rows = Array.from({ length: 5000 }, (_, index) => ({
      id: index,
      at: new Date(Math.floor((last * index) / 5000)),
    }));
    const stored = await store.database.run(
      statement<{ exact: string }>(
        "test.microseconds",
        `select (extract(epoch from at) * 1000000)::bigint::text as exact from (${parameters.table}) as input order by id`,
      ),
      parameters.values(rows),
    );
    expect(stored.map(({ exact }) => exact)).toEqual(rows.map(({ at }) => String(at.getTime() * 1000)));
  });
});

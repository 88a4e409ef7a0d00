import { expect, test } from "vitest";
import { findLongStatements, MAX_SIZE, sizeOf } from "./sent-statements.ts";

const parts = (count: number) => Array.from({ length: count }, (_, at) => `part_${at} as (\n  select 1 as one\n)`);
const statementOf = (count: number, more = 0) => `\nwith ${parts(count).join(",\n")}\nselect 1${"\n, 2".repeat(more)}`;

test("parts are counted in every form, and aliases and casts are none", () => {
  const text = `with recursive a (x, y) as (select 1, 2),
    b as materialized (select cast(x as (integer)) from a), c as not materialized (insert into t select 1 returning 1)
    select * from (select 1) as d, lateral (select 2) as e (two)`;
  expect(sizeOf(text)).toEqual({ lines: 3, parts: 3 });
  expect(sizeOf(statementOf(4))).toEqual({ lines: 13, parts: 4 });
});

test("a statement with too many lines or parts is named, with its size and what to do", () => {
  const fits = { name: "fits", text: statementOf(MAX_SIZE.parts, MAX_SIZE.lines - 3 * MAX_SIZE.parts - 1) };
  expect(sizeOf(fits.text)).toEqual(MAX_SIZE);
  const long = { name: "shops.long", text: `${fits.text}\n, 3` };
  const many = { name: "shops.many", text: statementOf(MAX_SIZE.parts + 1) };
  expect(findLongStatements([fits, long, many], {})).toEqual([
    expect.stringMatching(
      /^shops\.long is sent with 101 lines and 12 common table expressions; at most 100 and 12 are/,
    ),
    expect.stringMatching(/^shops\.many is sent with 40 lines and 13 common table expressions; at most 100 and 12 are/),
  ]);
});

test("an exception may not grow, and leaves once it is not needed", () => {
  const long = { name: "shops.long", text: statementOf(14) };
  expect(findLongStatements([long], { "shops.long": sizeOf(long.text) })).toEqual([]);
  expect(findLongStatements([long], { "shops.long": { lines: 43, parts: 13 } })).toEqual([
    expect.stringContaining("at most 43 and 13 are allowed"),
  ]);
  const unneeded = "shops.short needs no exception in scripts/sent-statements.ts";
  expect(findLongStatements([{ name: "shops.short", text: "select 1" }], { "shops.short": MAX_SIZE })).toEqual([
    unneeded,
  ]);
  expect(findLongStatements([], { "shops.short": MAX_SIZE })).toEqual([unneeded]);
});

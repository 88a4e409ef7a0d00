import { expect, test } from "vitest";
import { migrations } from "./migrations.ts";

/** Earlier migrations are older than the rule. */
const bound = Object.entries(migrations)
  .filter(([name]) => name >= "0036")
  .map(([name, sql]) => ({ name, statements: sql.replaceAll(/--.*$/gm, "").split(";") }));

test("a check on a table that exists is added not valid, so that nothing scans it under a lock", () => {
  const scans = bound.filter(({ statements }) =>
    statements.some((one) => {
      if (!/^\s*alter table\b/i.test(one)) return false;
      const checks = one.match(/\bcheck\s*\(/gi)?.length ?? 0;
      return checks > (one.match(/\)\s*not valid\b/gi)?.length ?? 0);
    }),
  );
  expect(scans.map(({ name }) => name)).toEqual([]);
});

test("an index on a table that exists is made while others write", () => {
  const locks = bound.filter(({ statements }) => {
    const made = statements.flatMap((one) => /^\s*create table (\w+)/i.exec(one)?.[1] ?? []);
    return statements.some((one) => {
      const table = /^\s*create (?:unique )?index (?!concurrently\b)\w+ on (\w+)/i.exec(one)?.[1];
      return table !== undefined && !made.includes(table);
    });
  });
  expect(locks.map(({ name }) => name)).toEqual([]);
});

import { expect, test } from "vitest";
import { checksumOf, controlsTransaction } from "./migration-sql.ts";

const written =
  "create table a (b text default 'x -- y'); create function f() returns int as $$ select 1 $$ language sql;";

test.each([
  ["a line comment", `-- why\n${written}`],
  ["a comment at the end", `${written} -- why`],
  ["a block comment with another inside", `/* a /* b */ ' $$ */ ${written}`],
  ["an apostrophe in a comment", `-- it's\n${written}`],
  ["white space", written.replaceAll(" create", "\n\n  create").replace("table a", "table\ta")],
  ["a comment in a function", written.replace("select 1", "-- it's why\n select 1")],
])("%s does not change the checksum of a migration", (_what, sql) => {
  expect(checksumOf(sql)).toBe(checksumOf(written));
});

test.each([
  ["a statement", `${written} select 1;`],
  ["white space in a text", written.replace("'x -- y'", "'x --  y'")],
  ["what looks like a comment in a text", written.replace("'x -- y'", "'x -- z'")],
  ["what looks like a comment after an escaped apostrophe", written.replace("'x -- y'", "e'\\' -- y'")],
  ["a name in quotes", written.replace("table a", 'table "a -- b"')],
  ["the code of a function", written.replace("select 1 ", "select 2 ")],
])("%s changes the checksum of a migration", (_what, sql) => {
  expect(checksumOf(sql)).not.toBe(checksumOf(written));
});

test("texts that differ only after what looks like a comment have different checksums", () => {
  expect(checksumOf("select e'\\'--a'")).not.toBe(checksumOf("select e'\\'--b'"));
  expect(checksumOf("select '''--a'")).not.toBe(checksumOf("select '''--b'"));
  expect(checksumOf('select 1 as "--a"')).not.toBe(checksumOf('select 1 as "--b"'));
  expect(checksumOf("select $q$ it's $q$, '--a'")).not.toBe(checksumOf("select $q$ it's $q$, '--b'"));
});

test("a migration that begins or ends a transaction is recognized, and a function's code is not taken for it", () => {
  for (const sql of ["begin; select 1", "select 1;\n-- done\nCOMMIT;", "select 1; rollback"])
    expect(controlsTransaction(sql), sql).toBe(true);
  for (const sql of [
    "do $$ begin perform 1; commit; end $$",
    "select 'a; commit'",
    "create table begin_at (commit int); savepoint a; rollback to a",
  ])
    expect(controlsTransaction(sql), sql).toBe(false);
});

import { askServer } from "@intermission/testing/copy-database";
import { createServerDatabase } from "@intermission/testing/test-database";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase, statement } from "./open-database.ts";

const migrations = { "0001": "create table things (id int primary key)" };

/** What an administrator may have set for the role or the database, in the belief that it is harmless. */
const ofDatabase = {
  datestyle: "'German, DMY'",
  intervalstyle: "'sql_standard'",
  bytea_output: "'escape'",
  extra_float_digits: "-10",
  timezone: "'Asia/Kathmandu'",
  standard_conforming_strings: "off",
  default_transaction_isolation: "'serializable'",
  lock_timeout: "'1ms'",
  idle_session_timeout: "'300ms'",
  synchronous_commit: "off",
  search_path: "'pg_catalog'",
  array_nulls: "off",
  transform_null_equals: "on",
  backslash_quote: "off",
  gin_fuzzy_search_limit: "1",
  enable_indexscan: "off",
  enable_bitmapscan: "off",
  enable_partition_pruning: "off",
  join_collapse_limit: "1",
};

const values = statement<Record<string, unknown>>(
  "values-of-session",
  `select '2026-05-04T10:00:00Z'::timestamptz as moment, '05/04/2026'::date::text as day, 0.1::float8 + 0.2 as float,
     '\\x00ff'::bytea as bytes, 'a\\b' as text, current_setting('transaction_isolation') as isolation,
     current_setting('lock_timeout') as lock, current_setting('synchronous_commit') as sync,
     ('{null}'::text[])[1] is null as "arrayNull", (1 = null) is null as "equalsNull",
     (select array_agg(name order by name) from pg_settings where name like 'enable\\_%' and setting = 'off'
        and boot_val = 'on') as "plansOff"`,
);
const insert = statement<never>("insert-thing", "insert into things values ($1)");

test("what a role or a database sets changes neither values nor promises, and closes no waiting connection", async () => {
  const server = await createServerDatabase();
  onTestFinished(server.drop);
  const name = new URL(server.url).pathname.slice(1);
  for (const [setting, value] of Object.entries(ofDatabase))
    await askServer(server.url, `alter database "${name}" set ${setting} to ${value}`);
  const warnings: string[] = [];
  const logger = { info() {}, warn: (_facts: object, message: string) => void warnings.push(message) };
  const database = await openDatabase({
    databaseUrl: server.url,
    dataDirectory: "",
    schema: "shop",
    migrations,
    logger,
  });
  onTestFinished(database.close);
  expect(await database.run(values, [])).toEqual([
    {
      moment: new Date("2026-05-04T10:00:00Z"),
      day: "2026-05-04",
      float: 0.1 + 0.2,
      bytes: Buffer.from([0, 255]),
      text: "a\\b",
      isolation: "read committed",
      lock: "0",
      sync: "on",
      arrayNull: true,
      equalsNull: true,
      plansOff: ["enable_mergejoin", "enable_seqscan"],
    },
  ]);
  const heard: string[] = [];
  await database.listen("bell", (payload) => heard.push(payload));
  // Longer than idle_session_timeout.
  await new Promise((resolve) => setTimeout(resolve, 700));
  await Promise.all(Array.from({ length: 20 }, (_, id) => database.run(insert, [id])));
  await database.notify("bell", "one");
  await expect.poll(() => heard).toEqual(["one"]);
  expect(warnings).toEqual([]);
});

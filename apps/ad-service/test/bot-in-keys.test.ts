import { openTestDatabase } from "@intermission/testing/test-database";
import { expect, test } from "vitest";
import { migrations } from "../src/migrations.ts";

/** Facts that are only appended: a unique index would cost each view and click a write, and nothing would read it. */
const appended = ["ad_milestones", "ad_requests", "conversion_reversals", "opening_offers"];

/** The tables of bots, without their partitions. */
const tablesOfBots = {
  name: "",
  text: `select relname::text as name, exists (
      select from pg_index where indrelid = pg_class.oid and indisprimary and attnum = any(indkey)
    ) as "isInKey"
    from pg_class join pg_attribute on attrelid = pg_class.oid and attname = 'bot_id' and not attisdropped
    where relnamespace = 'ad_service'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1`,
};

// PostgreSQL's documentation, "Row Filters": a filter of updates and deletions has columns of the replica identity alone.
test("the key of each table of a bot has bot_id, so that its rows can be moved by a filtered publication", async () => {
  const store = await openTestDatabase({ schema: "ad_service", migrations });
  const tables = await store.database.run<{ name: string; isInKey: boolean }>(tablesOfBots, []);
  await store.dispose();
  expect(tables.map(({ name }) => name)).toEqual(expect.arrayContaining(["bots", "codes", "tasks", "views"]));
  expect(tables.filter(({ isInKey }) => !isInKey).map(({ name }) => name)).toEqual(appended);
});

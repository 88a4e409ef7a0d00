import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { directLinkRoutes } from "../src/clicks/routes.ts";
import { migrations } from "../src/migrations.ts";
import { openDirectLinkFixture } from "./fixtures/direct-link-fixture.ts";
import { wholeVideo } from "./fixtures/view-fixture.ts";
import { openViewerFixture } from "./fixtures/viewer-fixture.ts";

/** Counts each row that a statement writes in a table of the schema. */
const countWrites = `
  create table public.writes (statement text not null);
  create function public.count_write() returns trigger language plpgsql as $$
  begin
    insert into public.writes values (lower(tg_op) || ' ' || coalesce((select inhparent::regclass::name from pg_inherits where inhrelid = tg_relid), tg_table_name));
    return null;
  end $$;
  do $$ declare name regclass; begin
    for name in select oid from pg_class where relnamespace = 'ad_service'::regnamespace and relkind = 'r' loop
      execute format('create trigger count_write after insert or update or delete on %s for each row execute function public.count_write()', name);
    end loop;
  end $$`;

describe("docs/performance.md says what is written for", () => {
  let store: TestDatabase;
  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
    await store.database.run({ name: "", text: countWrites }, []);
  });
  afterAll(() => store.dispose());

  async function writesOf(work: () => Promise<unknown>): Promise<Record<string, number>> {
    await store.database.run({ name: "", text: "truncate public.writes" }, []);
    await work();
    const text = "select statement, count(*) as rows from public.writes group by 1 order by 1";
    const rows = await store.database.run<{ statement: string; rows: number }>({ name: "", text }, []);
    return Object.fromEntries(rows.map(({ statement, rows: count }) => [statement, count]));
  }

  test("a first click", async () => {
    const fixture = await openDirectLinkFixture(store.database, directLinkRoutes, { suspiciousClicks: "pay" });
    const code = await fixture.issue("501");
    fixture.advance(5);
    expect(await writesOf(() => fixture.visit(code))).toEqual(documented("a first click"));
    await fixture.close();
  });

  test("a view of ten seconds", async () => {
    const fixture = await openViewerFixture(store.database);
    const code = await fixture.issue("601");
    const reports = wholeVideo();
    const written = await writesOf(async () => {
      const view = await fixture.begin("601", code);
      await fixture.report(view, { started: true });
      // As a player does: a report at each quartile and at the end.
      for (const [from, to] of [
        [0, 3],
        [3, 5],
        [5, 8],
        [8, 10],
      ] as const) {
        fixture.advance(to - from);
        await fixture.report(view, { reports: reports.slice(from, to) });
      }
      await fixture.report(view, { closed: "tap" });
    });
    expect(written).toEqual(documented("a view of ten seconds"));
    await fixture.close();
  });
});

/** The rows of a section's table: what is written, and how many rows. */
function documented(section: string): Record<string, number> {
  const page = readFileSync(join(import.meta.dirname, "../../../docs/performance.md"), "utf8");
  const [, text = ""] = page.split(new RegExp(`^### .*${section}.*$`, "m"));
  const [table = ""] = text.split(/^#/m);
  const rows = [...table.matchAll(/^\| (\w+) \| `(\w+)` \| (\d+) \|/gm)];
  return Object.fromEntries(rows.map(([, what, name, count]) => [`${what} ${name}`, Number(count)]));
}

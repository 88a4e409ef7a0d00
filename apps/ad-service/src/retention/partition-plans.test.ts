import { codeWeekAt, newClickId, newEventId } from "@intermission/ad-core/code";
import type { OpenedDatabase, Transaction } from "@intermission/postgres/open-database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openPartitionedStore } from "../../test/fixtures/partitioned-store.ts";
import { partitionsRead, textOfStatement } from "../../test/fixtures/partitions-read.ts";
import "../clicks/read-click-facts.ts";
import "../codes/describe-code.ts";
import "../deliveries/claim-deliveries.ts";
import "../deliveries/read-deliveries.ts";
import "../deliveries/replay-deliveries.ts";
import "../events/list-events.ts";
import "../conversions/record-conversion.ts";
import "../conversions/reverse-conversion.ts";
import "../vast/trackers.ts";
import "../views/count-ad-click.ts";
import { boundsAt } from "../codes/code-bounds.ts";

/** A Wednesday: its week began on the 8th. */
const now = new Date("2026-06-10T12:00:00Z");
const clickId = newClickId(now.getTime(), new Uint8Array(10));
const eventId = newEventId(now.getTime(), new Uint8Array(10));

let store: OpenedDatabase;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ store, close } = await openPartitionedStore(new Date("2026-05-01T12:00:00Z"), now));
  // A statement that finds no row of one table reads no partition of the next.
  const run = (text: string) => store.run({ name: "", text }, [eventId]);
  await run("insert into bots (bot_id, code_prefix, name) select '910', 'abcd', 'Quiz' where $1::text <> ''");
  await run(`insert into events (event_id, bot_id, event, user_id, occurred_at)
    values ($1, '910', 'rewarded', '1', '2026-06-10')`);
  await run("insert into event_bodies (event_id, bot_id, body) values ($1, '910', '{}')");
  await run("insert into deliveries (event_id, bot_id, state) values ($1, '910', 'delivered')");
});
afterAll(() => close());

const partitionsOf = (name: string, values: readonly (string | Date)[]) =>
  partitionsRead(store, textOfStatement(name), values);

test.each([
  ["ad-clicks.read", ["910", "910-v", now], ["cta_clicks_20260608"]],
  [
    "conversions.insert",
    [clickId, "purchase", "1", "5", "USD", "910", "cmp_1", "cre_1", "", now, now],
    ["conversions_20260608"],
  ],
  ["conversions.find-recorded", [clickId, "purchase", "1", now], ["conversions_20260608"]],
  ["conversions.reverse", [clickId, "purchase", "1", now, now], ["conversions_20260608"]],
  ["conversions.of-click", [clickId, now], ["conversions_20260608"]],
  ["vast.read-ad", ["910", "910-v", now], ["vast_ads_20260608"]],
  ["vast.finish-call", ["1", now, now, "answered"], ["tracker_calls_20260608"]],
  ["deliveries.show", ["910", eventId], ["deliveries_20260608", "event_bodies_20260608"]],
  ["deliveries.replay-one", ["910", eventId], ["deliveries_20260608"]],
  ["deliveries.release", ["{910}", `{${eventId}}`, "{0}", "waiting", "0"], ["deliveries_20260608"]],
  ["events.list-latest", ["910", "evt_g", "", "2026-01-01", "2027-01-01", "10"], ["deliveries_20260608"]],
] as const)("%s reads one partition, that of the week it names", async (name, values, partitions) => {
  expect(await partitionsOf(name, values)).toEqual(partitions);
});

test("what a code's bot asks about it is read from the week of its issue on, and what an advertiser reports from weeks around the click", async () => {
  const days = (tables: readonly string[]) => tables.map((name) => name.slice(-4));
  const around = ["2026-05-27", "2026-07-01"].map((day) => codeWeekAt(Date.parse(day)));
  const sinceIssue = ["0608", "0615", "0622", "0629", "0706"];
  expect(days(await partitionsOf("codes.count-requests", ["910", "code", now]))).toEqual(sinceIssue);
  expect(days(await partitionsOf("codes.count-refused-clicks", ["910", "code", now]))).toEqual(sinceIssue);
  // Of clicks in ads, and of withheld ones.
  const aroundClick = ["0525", "0601", "0608", "0615", "0622"];
  const read = await partitionsOf("conversions.click", [clickId, now, ...around]);
  expect(days(read)).toEqual([...aroundClick, ...aroundClick]);
});

const code = `${codeWeekAt(now.getTime())}bota234567892345`;

/** The partitions of withheld clicks that these statements read, also those within functions, which no plan shows. */
async function withheldRead(work: (tx: Transaction) => Promise<unknown>): Promise<string[]> {
  return store.transaction(async (tx) => {
    const scans = () =>
      tx.run<{ name: string; scans: number }>(
        {
          name: "",
          text: `select relname::text as name, coalesce(seq_scan, 0) + coalesce(idx_scan, 0) as scans
            from pg_stat_xact_user_tables where relname like 'withheld_clicks_2%' order by 1`,
        },
        [],
      );
    // Counts of the transaction before may not be reported yet.
    const before = new Map((await scans()).map(({ name, scans: count }) => [name, count]));
    await work(tx);
    return (await scans()).filter(({ name, scans: count }) => count > (before.get(name) ?? 0)).map(({ name }) => name);
  });
}

test("a visit of a link is judged, and recorded as not paid, by the withheld clicks of its code's week", async () => {
  const run = (tx: Transaction, text: string) => tx.run({ name: "", text }, []);
  await store.transaction(async (tx) => {
    await run(
      tx,
      `insert into codes (bot_id, code, user_id, issued_at, expires_at) values ('910', '${code}', '1', now(), now())`,
    );
    await run(tx, "insert into viewers (bot_id, user_id, day, earned_today) values ('910', '1', now(), 0)");
  });
  const facts = { name: "", text: textOfStatement("clicks.read-facts") };
  const visit = [
    "{0}",
    "{910}",
    `{${code}}`,
    "{NULL}",
    "{NULL}",
    "{NULL}",
    "{NULL}",
    `{${now.getTime()}}`,
    "{f}",
    ...boundsAt([now]),
  ];
  expect(await withheldRead((tx) => tx.run(facts, visit))).toEqual(["withheld_clicks_20260608"]);
  const visits = ["910", code, "evt_1", "1", "", now.toISOString(), "", "", "expired", "", "Mozilla", "a", "b"];
  const record = `select record_unpaid_clicks(${visits.map((value) => `'{"${value}"}'`).join(", ")})`;
  expect(await withheldRead((tx) => run(tx, record))).toEqual(["withheld_clicks_20260608"]);
});

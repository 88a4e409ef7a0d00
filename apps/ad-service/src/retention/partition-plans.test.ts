import { newClickId } from "@intermission/ad-core/code";
import { type OpenedDatabase, openDatabase } from "@intermission/postgres/open-database";
import { createServerDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { partitionsRead, textOfStatement } from "../../test/fixtures/partitions-read.ts";
import "../codes/describe-code.ts";
import "../conversions/record-conversion.ts";
import "../conversions/reverse-conversion.ts";
import "../vast/trackers.ts";
import "../views/count-ad-click.ts";
import { migrations } from "../migrations.ts";
import { makeUpcomingPartitions } from "./keep-partitions.ts";

/** A Wednesday: its week began on the 8th. */
const now = new Date("2026-06-10T12:00:00Z");
const clickId = newClickId(now.getTime(), new Uint8Array(10));

let store: OpenedDatabase;
let drop: () => Promise<void>;
beforeAll(async () => {
  const server = await createServerDatabase();
  drop = server.drop;
  // One session, as its generic plans are what is tested.
  store = await openDatabase({
    databaseUrl: server.url,
    dataDirectory: "",
    schema: "ad_service",
    migrations,
    poolSize: 1,
  });
  await makeUpcomingPartitions(store, new Date("2026-05-01T12:00:00Z"));
  await makeUpcomingPartitions(store, now);
});
afterAll(async () => {
  await store.close();
  await drop();
});

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
] as const)("%s reads one partition, that of the week it names", async (name, values, partitions) => {
  expect(await partitionsOf(name, values)).toEqual(partitions);
});

test("what a code's bot asks about it is read from the week of its issue on, and what an advertiser reports from weeks around the click", async () => {
  const days = (tables: readonly string[]) => tables.map((name) => name.slice(-4));
  const sinceIssue = ["0608", "0615", "0622", "0629", "0706"];
  expect(days(await partitionsOf("codes.count-requests", ["910", "code", now]))).toEqual(sinceIssue);
  expect(days(await partitionsOf("codes.count-refused-clicks", ["910", "code", now]))).toEqual(sinceIssue);
  expect(days(await partitionsOf("conversions.click", [clickId, now]))).toEqual([
    "0525",
    "0601",
    "0608",
    "0615",
    "0622",
  ]);
});

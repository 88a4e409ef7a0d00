import { newClickId } from "@intermission/ad-core/code";
import { knownStatements, type OpenedDatabase, openDatabase } from "@intermission/postgres/open-database";
import { createServerDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, test } from "vitest";
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

interface PlanNode {
  readonly "Relation Name"?: string;
  readonly "Actual Loops": number;
  readonly Plans?: readonly PlanNode[];
}

/** The partitions of a table that the generic plan of a statement reads with these values. */
async function partitionsRead(name: string, values: readonly (string | Date)[]): Promise<string[]> {
  const text = knownStatements().find((statement) => statement.name === name)?.text;
  if (text === undefined) throw new Error(`there is no statement ${name}`);
  const ask = <Row>(sql: string) => store.run<Row>({ name: "", text: sql }, []);
  const literals = values.map((value) => `'${value instanceof Date ? value.toISOString() : value}'`);
  await ask(`prepare tried as ${text}`);
  const [plan] = await ask<{ "QUERY PLAN": readonly [{ Plan: PlanNode }] }>(
    `explain (analyze, costs off, format json) execute tried(${literals.join(", ")})`,
  );
  await ask("deallocate tried");
  const found = new Set<string>();
  const visit = (node: PlanNode): void => {
    const table = node["Relation Name"];
    if (table !== undefined && /_\d{8}$/.test(table) && node["Actual Loops"] > 0) found.add(table);
    for (const part of node.Plans ?? []) visit(part);
  };
  if (plan !== undefined) visit(plan["QUERY PLAN"][0].Plan);
  return [...found].toSorted();
}

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
  ["vast.finish-call", ["1", now, now, "answered"], ["tracker_calls_20260608"]],
] as const)("%s reads one partition, that of the week it names", async (name, values, partitions) => {
  expect(await partitionsRead(name, values)).toEqual(partitions);
});

test("what a code's bot asks about it is read from the week of its issue on, and what an advertiser reports from weeks around the click", async () => {
  const days = (tables: readonly string[]) => tables.map((name) => name.slice(-4));
  const sinceIssue = ["0608", "0615", "0622", "0629", "0706"];
  expect(days(await partitionsRead("codes.count-requests", ["910", "code", now]))).toEqual(sinceIssue);
  expect(days(await partitionsRead("codes.count-refused-clicks", ["910", "code", now]))).toEqual(sinceIssue);
  expect(days(await partitionsRead("conversions.click", [clickId, now]))).toEqual([
    "0525",
    "0601",
    "0608",
    "0615",
    "0622",
  ]);
});

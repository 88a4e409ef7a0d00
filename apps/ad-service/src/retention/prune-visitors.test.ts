import { newEventId } from "@intermission/ad-core/code";
import { statement } from "@intermission/postgres/open-database";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { migrations } from "../migrations.ts";
import { pruneVisitors } from "./prune-visitors.ts";

let store: TestDatabase;
beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
});
afterAll(() => store.dispose());

const insertClick = statement<never>(
  "test.insert-click",
  `insert into events (event_id, bot_id, event, user_id, code, occurred_at, suspicions, user_agent, address_hash, network_hash)
   values ($1, '910', 'direct_link', '1', $1, $2, '{mostly-taps}', 'Mozilla', 'a', 'n')`,
);

test("the visitor of a suspicious click is blanked after 13 months, and the event stays", async () => {
  const hours = [1, 2, 3].map((hour) => new Date(Date.UTC(2026, 2, 1, hour)));
  for (const at of hours) await store.database.run(insertClick, [newEventId(at.getTime(), new Uint8Array(10)), at]);
  const visitors = async () => {
    const text = "select suspicions, user_agent, address_hash, network_hash from events order by event_id";
    return (await store.database.run<object>({ name: "", text }, [])).map((row) => Object.values(row));
  };
  const blank = [null, null, null, null];
  const whole = [["mostly-taps"], "Mozilla", Buffer.from("a"), Buffer.from("n")];
  await pruneVisitors(store.database, { now: new Date("2027-04-01T02:00:00Z") });
  expect(await visitors()).toEqual([blank, whole, whole]);
  await pruneVisitors(store.database, { now: new Date("2027-04-01T02:00:01Z") });
  expect(await visitors()).toEqual([blank, blank, whole]);
});

import { newEventId } from "@intermission/ad-core/code";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDeliveryFixture } from "../../test/fixtures/delivery-fixture.ts";
import { migrations } from "../migrations.ts";
import { readNextDue } from "./next-due.ts";

let store: TestDatabase;
beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
});
afterAll(() => store.dispose());

test.each([
  ["years ago", Date.UTC(2020, 0, 1)],
  ["now", Date.now()],
  ["in years, by a clock that was ahead", Date.UTC(2060, 0, 1)],
])("a webhook of an event of %s is awaited, bulk or not, and the earlier one first", async (_, earnedAt) => {
  const { botId } = await openDeliveryFixture(store.database, { webhookUrl: "https://quiz.test/ads" });
  const run = (text: string) => store.database.run({ name: "", text }, [botId]);
  const ids = [1, 2].map((byte) => newEventId(earnedAt, new Uint8Array(10).fill(byte)));
  expect(await readNextDue(store.database)).toEqual({ milliseconds: null, isDueNow: false });
  for (const [index, hours] of [2, 1].entries())
    await run(`insert into deliveries (bot_id, event_id, state, is_bulk, due_at)
      values ($1, '${ids[index]}', 'waiting', ${index === 1}, now() + interval '${hours} hours')`);
  const { milliseconds } = await readNextDue(store.database);
  expect(milliseconds).toBeGreaterThan(3_500_000);
  expect(milliseconds).toBeLessThanOrEqual(3_600_000);
  await run(`update deliveries set due_at = now() where bot_id = $1 and event_id = '${ids[1]}'`);
  expect(await readNextDue(store.database)).toMatchObject({ isDueNow: true });
  await run("update deliveries set state = 'delivered' where bot_id = $1");
});

import { randomBytes } from "node:crypto";
import { newEventId } from "@intermission/ad-core/code";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { enqueueWebhook } from "../deliveries/enqueue-webhook.ts";
import { migrations } from "../migrations.ts";
import { readDeliverySuccess } from "./delivery-success.ts";

const [from, to] = [new Date("2026-03-01T00:00:00Z"), new Date("2026-03-02T00:00:00Z")];
const inside = new Date("2026-03-01T12:00:00Z");
const [bot, other] = ["7000000001", "7000000002"];

let store: TestDatabase;
beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
});
afterAll(() => store.dispose());

/** All of it is kept: nothing else is counted. */
const totalSince = () => Promise.reject(new Error("nothing was dropped"));

async function earn(botId: string, state: string, { at = inside, isTest = false } = {}): Promise<void> {
  const eventId = newEventId(at.getTime(), randomBytes(16));
  const run = (text: string, values: readonly unknown[]) => store.database.run({ name: "", text }, values);
  await run(
    `with earned as (
       select $2::text as bot_id, $1::text as event_id, 'rewarded' as event, '1' as user_id, $1::text as code,
         null::text as reference, $3::boolean as is_test, null::text as campaign_id, null::text as creative_id,
         null::bigint as price_micros, null::bigint as revenue_micros, $4::timestamptz as occurred_at, '{}' as body
     ), ${enqueueWebhook({ from: "earned" })} select event_id from enqueued`,
    [eventId, botId, isTest, at],
  );
  await run("update deliveries set state = $2 where event_id = $1", [eventId, state]);
}

test("what a report counts is delivered, under way or failed; tests and events outside of its period are neither", async () => {
  const ofBot = ["delivered", "delivered", "delivered", "waiting", "sending", "held", "failed", "unknown"];
  for (const state of ofBot) await earn(bot, state);
  await earn(bot, "failed", { isTest: true });
  await earn(bot, "waiting", { at: new Date(from.getTime() - 1) });
  await earn(bot, "failed", { at: to });
  await earn(other, "failed");

  const period = { from, to, totalSince };
  const ofOne = { ...period, botId: bot, total: { rewards: 5, clicks: 3 } };
  expect(await readDeliverySuccess(store.database, ofOne)).toEqual({
    delivered: 3,
    underWay: 3,
    failed: 2,
    successRate: 0.6,
  });
  const ofAll = { ...period, total: { rewards: 9, clicks: 0 } };
  expect(await readDeliverySuccess(store.database, ofAll)).toMatchObject({ delivered: 3, underWay: 3, failed: 3 });
});

test("events that are not counted yet never make the number of delivered ones negative", async () => {
  const third = "7000000003";
  await earn(third, "waiting");
  const late = { from, to, totalSince, botId: third, total: { rewards: 0, clicks: 0 } };
  const none = { delivered: 0, underWay: 1, failed: 0, successRate: null };
  expect(await readDeliverySuccess(store.database, late)).toEqual(none);
});

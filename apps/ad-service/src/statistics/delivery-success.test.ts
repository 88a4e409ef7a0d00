import { randomBytes } from "node:crypto";
import { newEventId } from "@intermission/ad-core/code";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, test } from "vitest";
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
    `insert into events (event_id, bot_id, event, user_id, is_test, occurred_at)
     values ($1, $2, 'rewarded', '1', $3, $4)`,
    [eventId, botId, isTest, at],
  );
  await run("insert into deliveries (bot_id, event_id, state) values ($1, $2, $3)", [botId, eventId, state]);
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

import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDeliveryFixture } from "../../test/fixtures/delivery-fixture.ts";
import { migrations } from "../migrations.ts";
import { repairAfterClockJump } from "./after-clock-jump.ts";

let store: TestDatabase;
beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
});
afterAll(() => store.dispose());

test("what a clock that was ahead has postponed is due now, and what a right clock has postponed stays", async () => {
  const { database } = store;
  const fixture = await openDeliveryFixture(database, { webhookUrl: "https://bot.example/hook" });
  const ids = await fixture.enqueue(6);
  const set = (index: number, changes: string) =>
    database.run({ name: "", text: `update deliveries set ${changes} where event_id = $1` }, [ids[index]]);
  // Each with what follows a failure of that number, and later than that.
  await set(0, "due_at = now() + interval '1 day'");
  await set(1, "due_at = now() + interval '1 day', schedule_step = 3");
  await set(2, "due_at = now() + interval '28 hours', schedule_step = 10");
  await set(3, "due_at = now() + interval '52 hours', schedule_step = 10, is_bulk = true");
  await set(4, "state = 'sending', lease_until = now() + interval '1 day'");
  await set(5, "state = 'sending', lease_until = now() + interval '25 seconds'");
  const endpoint = "backoff_until = now() + interval '1 day', probe_at = now() + interval '1 day'";
  await database.run({ name: "", text: `update endpoints set ${endpoint}` }, []);

  expect(await repairAfterClockJump(database)).toEqual({ repaired: 5, hasMore: false });
  const text = `select array_agg(round(extract(epoch from coalesce(lease_until, due_at) - now()) / 3600)::int order by event_id) as hours,
    (select bool_and(backoff_until <= now() and probe_at <= now()) from endpoints) as "isReady" from deliveries`;
  const [row] = await database.run<{ hours: number[]; isReady: boolean }>({ name: "", text }, []);
  const byId = new Map([...ids].sort().map((id, index) => [id, row?.hours[index]]));
  expect(ids.map((id) => byId.get(id))).toEqual([0, 0, 28, 0, 0, 0]);
  expect(row?.isReady).toBe(true);
  expect(await repairAfterClockJump(database)).toEqual({ repaired: 0, hasMore: false });
});

test("a pending endpoint is tested now if a clock that was ahead has postponed its test, and not earlier than a right clock says", async () => {
  const { database } = store;
  const fixture = await openDeliveryFixture(database, { webhookUrl: "https://bot.example/hook" });
  const dueIn = async (interval: string) => {
    const text = `update endpoints set state = 'pending', test_due_at = now() + $2::interval where bot_id = $1`;
    await database.run({ name: "", text }, [fixture.botId, interval]);
    await repairAfterClockJump(database);
    const left = "select test_due_at <= now() as is_due from endpoints where bot_id = $1";
    return (await database.run<{ is_due: boolean }>({ name: "", text: left }, [fixture.botId]))[0]?.is_due;
  };
  expect([await dueIn("71 minutes"), await dueIn("1 day")]).toEqual([false, true]);
});

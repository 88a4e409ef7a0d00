import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { startTestApi, testConfig } from "../../test/fixtures/api-fixture.ts";
import { migrations } from "../migrations.ts";

let store: TestDatabase;
beforeAll(async () => {
  store = await openTestDatabase({ schema: "api", migrations });
});
afterAll(() => store.dispose());

test("each new event is one line, of debug where it is paid, with the ad service's id of the event, and never a code; a repeat is none", async () => {
  const lines: Record<string, unknown>[] = [];
  const log = (line: string) => {
    if (!line.includes("Server listening")) lines.push(JSON.parse(line));
  };
  const api = await startTestApi(store.database, {}, undefined, { log });
  onTestFinished(() => api.stop());
  const { botId } = testConfig;
  const event = { event: "rewarded", bot_id: botId, user_tg_id: "71", code: "CodeOfTheEvent01" };
  const deliver = (changes: object) => api.deliver({ ...event, ...changes });
  await deliver({ event_id: "evt_paid" });
  await deliver({ event_id: "evt_paid" });
  await deliver({ event_id: "evt_again" });
  // Recorded under its code, since it has no id.
  await deliver({ code: "CodeWithoutAnId1" });
  const shared = { level: 20, name: "api", time: expect.any(String), botId, userId: "71", source: "webhook" };
  expect(lines).toEqual([
    { ...shared, eventId: "evt_paid", event: "rewarded", msg: "an event is paid" },
    {
      ...shared,
      level: 30,
      eventId: "evt_again",
      event: "rewarded",
      reason: "code-already-paid",
      msg: "an event is recorded and pays nothing",
    },
    { ...shared, event: "rewarded", msg: "an event is paid" },
  ]);
  expect(JSON.stringify(lines)).not.toContain("Code");
});

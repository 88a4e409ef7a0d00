import { openTestDatabase } from "@intermission/testing/test-database";
import { expect, test, vi } from "vitest";
import { startTestApi } from "../../test/fixtures/api-fixture.ts";
import { migrations } from "../migrations.ts";
import { startOfLedger } from "./watch-rewards.ts";

test("a node serves 64 watches at once, refuses another with the reason, and reuses the place of an ended watch", async () => {
  const store = await openTestDatabase({ schema: "api", migrations });
  const api = await startTestApi(store.database);
  await (await api.deliver({ event: "rewarded", user_tg_id: "1", event_id: "evt_1" })).text();
  const input = encodeURIComponent(JSON.stringify({ lastEventId: startOfLedger }));
  const open = async () => {
    const line = new AbortController();
    const headers = { authorization: `Bearer ${api.config.backendApiKey}`, accept: "text/event-stream" };
    const response = await fetch(`${api.url}/trpc/rewards.watch?input=${input}`, { headers, signal: line.signal });
    let text = "";
    const reading = (async () => {
      for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString();
    })().catch(() => {});
    await vi.waitFor(() => expect(text).toMatch(/evt_1|TOO_MANY_REQUESTS/));
    const close = () => {
      line.abort();
      return reading;
    };
    return { isServed: text.includes("evt_1"), close };
  };

  const lines = await Promise.all(Array.from({ length: 64 }, open));
  expect(lines.filter(({ isServed }) => isServed)).toHaveLength(64);
  const refused = await open();
  expect(refused.isServed).toBe(false);
  await refused.close();

  await lines[0]?.close();
  await vi.waitFor(async () => {
    const next = await open();
    lines.push(next);
    expect(next.isServed).toBe(true);
  }, 20_000);
  await Promise.all(lines.map(({ close }) => close()));
  await api.stop();
  await store.dispose();
});

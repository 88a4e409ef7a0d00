import { connect } from "node:net";
import { openTestDatabase } from "@intermission/testing/test-database";
import { expect, onTestFinished, test, vi } from "vitest";
import { startTestApi, testConfig } from "../../test/fixtures/api-fixture.ts";
import { migrations } from "../migrations.ts";

const entries = 12_000;

test("a watch that never reads is closed; one that reads, however slowly, gets every entry", {
  tags: "long",
}, async () => {
  const store = await openTestDatabase({ schema: "api", migrations });
  onTestFinished(() => store.dispose());
  const { botId, backendApiKey } = testConfig;
  const text = `insert into ledger_entries (bot_id, user_id, event_id, event, amount, reason, reference)
    select $1, '42', 'evt_' || number, 'rewarded', 0, 'no-reward', repeat('r', 1000) from generate_series(1, ${entries}) as number`;
  await store.database.run({ name: "", text }, [botId]);
  const lines: string[] = [];
  const more = { maxSilentWatchMs: 2000, log: (line: string) => lines.push(line) };
  const api = await startTestApi(store.database, {}, undefined, more);
  onTestFinished(() => api.stop());
  const port = Number(new URL(api.url).port);
  const watch = () => {
    const socket = connect(port, "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    const input = encodeURIComponent(JSON.stringify({ from: "start" }));
    const headers = `host: api.test\r\nauthorization: Bearer ${backendApiKey}\r\naccept: text/event-stream`;
    socket.write(`GET /trpc/rewards.watch?input=${input} HTTP/1.1\r\n${headers}\r\n\r\n`);
    return socket;
  };
  const slow = watch();
  let [seen, last] = [0, ""];
  slow.on("data", (data) => {
    const read = last + data.toString();
    seen += read.split('"evt_').length - 1;
    last = read.slice(-4);
    slow.pause();
    setTimeout(() => slow.resume(), 2);
  });
  const silent = watch().pause();
  const closed = () => lines.filter((line) => line.includes("a watch was closed"));
  await vi.waitFor(() => expect(closed()).toHaveLength(1), { timeout: 40_000, interval: 50 });
  await vi.waitFor(() => expect(seen).toBeGreaterThanOrEqual(entries), { timeout: 40_000, interval: 50 });
  expect([closed().length, silent.bytesRead < entries * 1000, slow.destroyed]).toEqual([1, true, false]);
});

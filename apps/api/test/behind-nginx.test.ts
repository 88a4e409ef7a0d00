import { request } from "node:http";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { createCompanion } from "@intermission/publisher/companion";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { startOfLedger } from "../src/ledger/watch-rewards.ts";
import { migrations } from "../src/migrations.ts";
import { startTestApi, type TestApi, testConfig } from "./fixtures/api-fixture.ts";
import { findNginx, type Nginx, startNginx } from "./fixtures/nginx-fixture.ts";

const program = findNginx();
if (program === undefined)
  console.log(
    "!!! Watches behind a proxy were not tested: nginx is not installed. Enable it: apt-get install nginx-light",
  );

/** Below the 10 s of the heartbeat, with which a buffered answer could begin. */
const soon = { timeout: 20_000, interval: 20 };

describe.skipIf(program === undefined)("behind nginx with its defaults and gzip", () => {
  let store: TestDatabase;
  let api: TestApi;
  let proxy: Nginx;
  beforeAll(async () => {
    store = await openTestDatabase({ schema: "api", migrations });
    api = await startTestApi(store.database);
    proxy = await startNginx(program ?? "", api.url);
  });
  afterAll(async () => {
    await proxy.stop();
    await api.stop();
    await store.dispose();
  });

  let events = 0;
  const earn = async () => {
    events += 1;
    const eventId = `evt_nginx_${events}`;
    expect((await api.deliver({ event: "rewarded", user_tg_id: "42", event_id: eventId })).status).toBe(200);
    return eventId;
  };

  test("a watch by plain HTTP begins at once and is sent each entry as it is recorded, to clients that accept gzip, too", async () => {
    const seen = { status: 0, text: "" };
    const headers = { authorization: `Bearer ${testConfig.backendApiKey}`, "accept-encoding": "gzip" };
    const watch = request(`${proxy.url}/v1/rewards/watch`, { headers }, (response) => {
      seen.status = response.statusCode ?? 0;
      const isCompressed = response.headers["content-encoding"] === "gzip";
      const plain: Readable = isCompressed ? response.pipe(createGunzip()) : response;
      plain.on("data", (chunk: Buffer) => {
        seen.text += chunk.toString();
      });
      for (const stream of [response, plain]) stream.on("error", () => {});
    });
    watch.on("error", () => {});
    watch.end();
    await vi.waitFor(() => expect(seen).toMatchObject({ status: 200, text: ": connected\n\n" }), soon);
    const eventId = await earn();
    await vi.waitFor(() => expect(seen.text).toContain(`"eventId":"${eventId}"`), soon);
    watch.destroy();
  });

  test("the package's watch of the tRPC subscription is sent each entry as it is recorded", async () => {
    const companion = createCompanion({ url: proxy.url, apiKey: testConfig.backendApiKey });
    const abort = new AbortController();
    const seen: (string | null)[] = [];
    const following = (async () => {
      const watch = companion.watchRewards({ after: startOfLedger }, { signal: abort.signal });
      for await (const { entry } of watch) seen.push(entry.eventId);
    })().catch(() => {});
    const first = await earn();
    await vi.waitFor(() => expect(seen).toContain(first), soon);
    const second = await earn();
    await vi.waitFor(() => expect(seen.at(-1)).toBe(second), soon);
    abort.abort();
    await following;
  });

  test("a watch without entries outlives a proxy that closes silent connections", { tags: "long" }, async () => {
    const impatient = await startNginx(program ?? "", api.url, "proxy_read_timeout 15s;");
    try {
      const headers = { authorization: `Bearer ${testConfig.backendApiKey}`, accept: "text/event-stream" };
      const heartbeatsOf = async (path: string, ping: RegExp) => {
        const ended = new AbortController();
        const response = await fetch(`${impatient.url}${path}`, { headers, signal: ended.signal });
        const seen = { text: "" };
        const reading = (async () => {
          for await (const chunk of response.body ?? []) seen.text += Buffer.from(chunk).toString();
          seen.text += "ended";
        })().catch(() => {});
        await vi.waitFor(() => expect(seen.text.match(ping)).toHaveLength(3), { timeout: 45_000, interval: 200 });
        expect(seen.text).not.toContain("ended");
        ended.abort();
        await reading;
      };
      await Promise.all([
        heartbeatsOf("/v1/rewards/watch", /^: ping$/gm),
        heartbeatsOf("/trpc/rewards.watch?input=%7B%7D", /^event: ping$/gm),
      ]);
    } finally {
      await impatient.stop();
    }
  });
});

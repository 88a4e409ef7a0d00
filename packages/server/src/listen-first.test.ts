import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { connect } from "node:net";
import { freePort } from "@intermission/testing/free-port";
import { pino } from "pino";
import { expect, test } from "vitest";
import { createHttpServer } from "./http-server.ts";
import { listenFirst } from "./listen-first.ts";

const logger = pino({ level: "silent" });

test("a server that starts is alive, says what it waits for, and answers all else 503 with Retry-After", async () => {
  const port = await freePort();
  const lines: string[] = [];
  const heard = pino({ level: "warn" }, { write: (line) => void lines.push(JSON.parse(line).msg) });
  const starting = await listenFirst({ host: "127.0.0.1", port, logger: heard, sayEveryMs: 20 });
  starting.waitFor('migration 0002-clicks of the schema "shop"');
  const answer = async (path: string, init?: RequestInit) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
    const headers = ["retry-after", "connection"].map((name) => response.headers.get(name));
    return [response.status, ...headers, await response.json()];
  };
  expect(await answer("/healthz")).toEqual([200, null, "close", { status: "alive" }]);
  const reason = 'the start waits for migration 0002-clicks of the schema "shop"';
  expect(await answer("/readyz?x=1")).toEqual([503, null, "close", { status: "starting", reason }]);
  const unavailable = { error: { code: "UNAVAILABLE", message: "the service is starting; retry later" } };
  for (const path of ["/client/v1/codes", "/", "/healthz/x"])
    expect(await answer(path, { method: "POST", body: "{}" })).toEqual([503, "1", "close", unavailable]);
  await expect.poll(() => lines).toContain(`not ready yet: ${reason}`);
  const finished = createHttpServer({ logger });
  await starting.handOver(finished);
  await finished.close();
});

test.each(["127.0.0.1", "localhost"])(
  "the finished server takes over the port at %s, and gives it back when it closes",
  async (host) => {
    const port = await freePort();
    const starting = await listenFirst({ host, port, logger });
    const early = connect(port, "127.0.0.1");
    await once(early, "connect");
    const statuses: (number | string)[] = [];
    let isOver = false;
    const calling = (async () => {
      while (!isOver) {
        statuses.push(await fetch(`http://127.0.0.1:${port}/here`).then(({ status }) => status, String));
      }
    })();
    await expect.poll(() => statuses.length).toBeGreaterThan(5);
    const finished = createHttpServer({ logger });
    finished.get("/here", async () => "here");
    await starting.handOver(finished);
    expect((finished.server.address() as AddressInfo).port).toBe(port);
    await expect.poll(() => statuses.at(-1)).toBe(200);
    isOver = true;
    await calling;
    if (host === "127.0.0.1") {
      expect(new Set(statuses)).toEqual(new Set([503, 200]));
      early.write("GET /here HTTP/1.1\r\nhost: x\r\n\r\n");
      const [bytes] = await once(early, "data");
      expect(String(bytes)).toMatch(/^HTTP\/1\.1 200 /);
    }
    early.destroy();
    await finished.close();
    await expect(fetch(`http://127.0.0.1:${port}/here`)).rejects.toThrow("fetch failed");
  },
);

import type { FastifyInstance } from "fastify";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createHttpServer } from "./http-server.ts";
import { countRequests, metricsRegistry, metricsRoutes, serveMetrics } from "./metrics.ts";

const token = "a-metrics-token-of-more-than-32-characters";
const logger = pino({ level: "silent" });
const registry = metricsRegistry({ service: "test", version: "1.2.3" });
let app: FastifyInstance;
let url = "";
beforeAll(async () => {
  app = createHttpServer({ logger });
  countRequests(app, registry);
  metricsRoutes(app, { registry, token });
  app.get("/things/:id(^[a-z0-9-]{1,64}$)", async () => ({ ok: true }));
  url = await app.listen({ host: "127.0.0.1", port: 0 });
});
afterAll(() => app.close());

const scrape = (authorization = `Bearer ${token}`) => fetch(`${url}/metrics`, { headers: { authorization } });

test("the metrics need exactly the token", async () => {
  const answer = await scrape();
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  expect(await answer.text()).toContain(
    `intermission_build_info{service="test",version="1.2.3",node="${process.version}"} 1`,
  );
  for (const wrong of ["", "Bearer", `Bearer ${token}x`, `Bearer ${token.slice(1)}`, `Basic ${token}`, token]) {
    const refused = await scrape(wrong);
    expect([wrong, refused.status, refused.headers.get("www-authenticate")]).toEqual([wrong, 401, "Bearer"]);
  }
});

test("requests are counted by the pattern of their route, and the metrics contain no address", async () => {
  for (const id of ["secret-1", "secret-2"]) await fetch(`${url}/things/${id}`).then((answer) => answer.text());
  await fetch(`${url}/secret/nowhere`).then((answer) => answer.text());
  const series = (route: string, status: string) =>
    new RegExp(
      `^http_request_duration_seconds_count\\{route="${route}",method="GET",status="${status}"\\} (\\d+)$`,
      "m",
    );
  // An answer is counted after it is sent, so the client may receive it earlier.
  await expect.poll(async () => (await scrape()).text()).toMatch(series("none", "4xx"));
  const text = await (await scrape()).text();
  expect(series("/things/:id", "2xx").exec(text)?.[1]).toBe("2");
  expect(text).not.toContain("secret");
});

test("a separate port serves only the metrics", async () => {
  const own = await serveMetrics({ registry, token: undefined, host: "127.0.0.1", port: 0, logger });
  const address = own?.server.address();
  if (!address || typeof address === "string") throw new Error("no port");
  const at = (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${address.port}${path}`, init);
  expect((await at("/metrics")).status).toBe(200);
  expect((await at("/things/1")).status).toBe(404);
  expect((await at("/metrics", { method: "POST" })).status).toBe(405);
  await own?.close();
});

import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { createHttpServer } from "@intermission/server/http-server";
import { createLogger } from "@intermission/server/logger";
import type { FastifyInstance } from "fastify";
import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { ViewRecords } from "../timeline/view-records.ts";
import { Phones } from "./phones.ts";
import { phoneRoutes } from "./routes.ts";

interface Call {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

let server: Server;
let serverUrl: string;
let calls: Call[];
let answer: (call: Call, response: ServerResponse) => void;
let app: FastifyInstance;
let url: string;
let views: ViewRecords;

beforeEach(async () => {
  calls = [];
  answer = (_call, response) => response.end();
  server = createServer(async (request, response) => {
    const { method, url: path, headers } = request;
    const call = { method, url: path, headers, body: await text(request) };
    calls.push(call);
    answer(call, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  serverUrl = `http://127.0.0.1:${z.object({ port: z.int() }).parse(server.address()).port}`;
  views = new ViewRecords();
  app = createHttpServer({ logger: createLogger({ level: "silent", name: "demo-bot" }) });
  const now = () => new Date();
  phoneRoutes(app, { phones: new Phones(), views, adServiceUrl: serverUrl, miniappOrigin: serverUrl, now });
  url = await app.listen({ host: "127.0.0.1", port: 0 });
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await app.close();
});

const choose = (network: string) =>
  fetch(`${url}/phone/42/network`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ network }),
  });

const post = (path: string, body: object, headers: Record<string, string> = { "content-type": "application/json" }) =>
  fetch(`${url}/phone/42/${path}`, { method: "POST", headers, body: JSON.stringify(body) });

function session() {
  return {
    outcome: "session",
    session_id: "7-abc",
    token: "secret-token",
    code: "ABCDEFGHJKLMNPQRST",
    state: "opened",
    bot: { bot_id: "7", name: "Bot", publisher_api_url: `${serverUrl}/api/` },
    ad: {
      advertiser: "A",
      media_url: `${serverUrl}/media/a.mp4`,
      media_type: "video/mp4",
      duration_ms: 10_000,
      width: 16,
      height: 9,
    },
    accepted_ms: 0,
    resume_at_ms: 0,
    first_sequence: 0,
    server_time: "2026-01-02T03:04:05Z",
    deadline: "2026-01-02T04:04:05Z",
  };
}

test("the page is the ad service's own, with its policy; its files and videos come through the phone", async () => {
  answer = (_call, response) =>
    response
      .writeHead(200, {
        "content-type": "text/html",
        "content-security-policy": "default-src 'none'; frame-ancestors https://web.telegram.org",
      })
      .end(
        `<html><head></head><script src="/app/assets/main.js"></script><video src="${serverUrl}/media/a.mp4"></video></html>`,
      );
  const page = await fetch(`${url}/phone/42/app/7?code=abc`, { headers: { "sec-ch-dpr": "2", cookie: "a=b" } });
  expect(page.headers.get("content-security-policy")).toBe("default-src 'none'; frame-ancestors 'self'");
  expect(await page.text()).toBe(
    `<html><head><meta name="ad-service" content="/phone/42" /></head><script src="/phone/42/app/assets/main.js"></script><video src="${url}/phone/42/media/a.mp4"></video></html>`,
  );
  expect(calls[0]).toMatchObject({ url: "/app/7?code=abc", headers: { "sec-ch-dpr": "2" } });
  expect(calls[0]?.headers.cookie).toBeUndefined();
});

test("each call of the mini-app reaches the ad service unchanged and is a step of the view, without its secrets", async () => {
  views.tapped("42", undefined, new Date().toISOString());
  answer = (_call, response) =>
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(session()));
  const opened = await post("player/v1/sessions", { bot_id: "7", init_data: "signed-init-data" });
  expect(await opened.json()).toEqual({
    ...session(),
    bot: { ...session().bot, publisher_api_url: `${url}/phone/42/publisher` },
    ad: { ...session().ad, media_url: `${url}/phone/42/media/a.mp4` },
  });
  const report = {
    token: "secret-token",
    reports: [{ sequence: 0, from_ms: 0, to_ms: 4000, visible: true, muted: true }],
  };
  answer = (_call, response) =>
    response.end(
      JSON.stringify({
        state: "playing",
        accepted_ms: 1000,
        acknowledged: [],
        refused: [],
        server_time: "2026-01-02T03:04:05Z",
        too_early: { sequences: [0], retry_after_ms: 3000 },
      }),
    );
  // A beacon of a page that closes.
  await post(
    "player/v1/sessions/7-abc/reports",
    { ...report, closed: "page-hidden" },
    { "content-type": "text/plain" },
  );
  expect(calls.map((call) => [call.method, call.url, call.headers["content-type"]])).toEqual([
    ["POST", "/player/v1/sessions", "application/json"],
    ["POST", "/player/v1/sessions/7-abc/reports", "text/plain"],
  ]);
  expect(JSON.parse(calls[1]?.body ?? "")).toEqual({ ...report, closed: "page-hidden" });
  expect(views.latest("42")).toMatchObject({
    code: "ABCDEFGHJKLMNPQRST",
    steps: [
      { kind: "tap" },
      { kind: "session", outcome: "session", durationMs: 10_000 },
      { kind: "report", close: "page-hidden", ranges: [{ fromMs: 0, toMs: 4000 }], acceptedMs: 1000, tooEarlyMs: 3000 },
    ],
  });
  expect(JSON.stringify(views.latest("42"))).not.toMatch(/secret-token|signed-init-data/);
});

test("the publisher's API is the one of the open session, and gets the mini-app's origin", async () => {
  expect((await fetch(`${url}/phone/42/publisher/trpc/x`)).status).toBe(404);
  answer = (_call, response) => response.end(JSON.stringify(session()));
  await post("player/v1/sessions", { bot_id: "7", init_data: "x" });
  answer = (_call, response) => response.end("{}");
  await fetch(`${url}/phone/42/publisher/trpc/rewards.status?input=1`, { headers: { authorization: "Bearer t" } });
  expect(calls.at(-1)).toMatchObject({
    url: "/api/trpc/rewards.status?input=1",
    headers: { origin: serverUrl, authorization: "Bearer t" },
  });
});

test("a look-away report is sent with the open session's token, and its refusal is a step", async () => {
  answer = (_call, response) => response.end(JSON.stringify(session()));
  await post("player/v1/sessions", { bot_id: "7", init_data: "x" });
  const refused = [{ sequence: 1, reason: "hidden" }];
  answer = (_call, response) =>
    response.end(
      JSON.stringify({
        state: "playing",
        accepted_ms: 0,
        acknowledged: [],
        refused,
        server_time: "2026-01-02T03:04:05Z",
      }),
    );
  expect((await post("hidden-report", { fromMs: 100, toMs: 900 })).status).toBe(204);
  expect(JSON.parse(calls.at(-1)?.body ?? "")).toMatchObject({
    token: "secret-token",
    reports: [{ from_ms: 100, to_ms: 900, visible: false }],
  });
  expect(views.latest("42")?.steps.at(-1)).toMatchObject({ kind: "report", refused: ["hidden"] });
});

test("a phone that is offline gets no answer, and the ad service no request", async () => {
  await choose("offline");
  await expect(fetch(`${url}/phone/42/media/a.mp4`)).rejects.toThrow();
  await expect(post("player/v1/sessions", {})).rejects.toThrow();
  expect(calls).toEqual([]);
  // Another user's phone has its own network.
  expect((await fetch(`${url}/phone/43/media/a.mp4`)).status).toBe(200);
});

test("ranges of a video pass at the speed of the network, which can go in the middle", async () => {
  answer = ({ headers }, response) => {
    response.writeHead(206, { "content-type": "video/mp4", "content-range": "bytes 0-19999/20000" });
    response.end(headers.range === "bytes=0-" ? Buffer.alloc(20_000, 7) : undefined);
  };
  await choose("slow-3g");
  const before = performance.now();
  const part = await fetch(`${url}/phone/42/media/a.mp4`, { headers: { range: "bytes=0-" } });
  expect(part.status).toBe(206);
  expect(part.headers.get("content-range")).toBe("bytes 0-19999/20000");
  expect((await part.arrayBuffer()).byteLength).toBe(20_000);
  expect(performance.now() - before).toBeGreaterThan(400 + 300);
  const cut = await fetch(`${url}/phone/42/media/a.mp4`, { headers: { range: "bytes=0-" } });
  await choose("offline");
  await expect(cut.arrayBuffer()).rejects.toThrow();
});

test("nothing else is reachable through the phone", async () => {
  for (const path of [
    "app/assets/..%2f..%2fclient%2fv1%2fcodes",
    "media/.env",
    "player/v1/../../operator/v1/bots",
    "player/v1/sessions/a/click",
    "operator/v1/bots",
    "app/seven",
  ]) {
    expect((await fetch(`${url}/phone/42/${path}`)).status).toBe(404);
    expect((await post(path, {})).status).toBe(404);
  }
  expect((await fetch(`${url}/phone/me/media/a.mp4`)).status).toBe(400);
  expect(calls).toEqual([]);
});

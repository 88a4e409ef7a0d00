import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestApi, type TestApi, testConfig, testToken } from "../../test/fixtures/api-fixture.ts";
import { type AdServiceClient, adServiceClient } from "../ad-service-client.ts";
import { migrations } from "../migrations.ts";

const issued = { code: "4YAbcdEfghJkLmnPqr", expires_in: 3599, expires_at: "2026-03-01T11:00:00Z" };

describe("requesting a code from the ad service", () => {
  let store: TestDatabase;
  let service: Server;
  let adService: AdServiceClient;
  let api: TestApi;
  let answer: (request: IncomingMessage, response: ServerResponse, body: string) => void;
  let calls: { url: string | undefined; authorization: string | undefined; body: unknown }[];

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "api", migrations });
  });
  afterAll(() => store.dispose());
  beforeEach(async () => {
    calls = [];
    service = createServer(async (request, response) => {
      let body = "";
      for await (const chunk of request) body += chunk;
      calls.push({ url: request.url, authorization: request.headers.authorization, body: JSON.parse(body) });
      answer(request, response, body);
    });
    await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
    adService = clientWith({ timeoutMilliseconds: 20_000 });
    api = await startTestApi(store.database, {}, adService);
  });
  afterEach(async () => {
    await api.stop();
    await adService.close();
    service.closeAllConnections();
    service.close();
  });

  function clientWith({ timeoutMilliseconds }: { timeoutMilliseconds: number }): AdServiceClient {
    const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}/base/`;
    return adServiceClient({ url, token: testToken, timeoutMilliseconds });
  }
  const answering = (status: number, body: unknown, headers: Record<string, string> = {}) => {
    answer = (_request, response) => {
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(typeof body === "string" ? body : JSON.stringify(body));
    };
  };
  const create = (reference?: string) =>
    api.client().codes.create.mutate({ userId: "42", ...(reference === undefined ? {} : { reference }) });

  test("a code is returned with the links that carry it", async () => {
    answering(200, issued);
    expect(await create("order 7")).toEqual({
      outcome: "created",
      code: issued.code,
      expiresInSeconds: 3599,
      expiresAt: issued.expires_at,
      miniappUrl: `https://ads.example/app/7000000001?code=${issued.code}`,
      startappLink: `https://t.me/coin_garden_bot/watch?startapp=${issued.code}`,
      directLink: `https://go.example/${issued.code}`,
    });
    expect(calls).toEqual([
      {
        url: "/base/client/v1/codes",
        authorization: `Bearer ${testToken}`,
        body: { bot_id: testConfig.botId, user_tg_id: "42", reference: "order 7" },
      },
    ]);
  });

  test("a code's event carries its reference into the ledger, even if the webhook does not", async () => {
    answering(200, { ...issued, code: "WithReference" });
    await create("order 8");
    await api.deliver({ event: "rewarded", user_tg_id: "42", event_id: "evt_ref", code: "WithReference" });
    const { entries } = await api.client().rewards.list.query({ userId: "42", limit: 1 });
    expect(entries).toMatchObject([{ code: "WithReference", reference: "order 8" }]);
  });

  test("without a bot's name there is no startapp link", async () => {
    answering(200, issued);
    const plain = await startTestApi(store.database, { botUsername: undefined }, adService);
    expect(await plain.client().codes.create.mutate({ userId: "42" })).toMatchObject({ startappLink: null });
    await plain.stop();
  });

  test.each<[string, number, unknown, Record<string, string>, object]>([
    ["201, which the contract does not define", 201, issued, {}, { reason: "unexpected-answer" }],
    ["200 with another shape", 200, { code: 1 }, {}, { reason: "unexpected-answer" }],
    [
      "200 with a code that would break out of a link",
      200,
      { ...issued, code: "a/../b" },
      {},
      { reason: "unexpected-answer" },
    ],
    ["200 that is not JSON", 200, "<html>", {}, { reason: "unexpected-answer" }],
    ["a redirect", 302, "", { location: "http://169.254.169.254/" }, { reason: "unexpected-answer" }],
    ["429", 429, {}, { "retry-after": "7" }, { reason: "rate-limited", retryAfterSeconds: 7 }],
    [
      "429 until a date",
      429,
      {},
      { "retry-after": new Date(Date.now() + 60_000_000).toUTCString() },
      { reason: "rate-limited", retryAfterSeconds: expect.closeTo(60_000, -3) },
    ],
    ["503", 503, {}, { "retry-after": "30" }, { reason: "ad-service-down", retryAfterSeconds: 30 }],
    ["500", 500, "", {}, { reason: "ad-service-down" }],
    ["401", 401, {}, {}, { reason: "refused" }],
  ])("%s is an outcome, not an error", async (_name, status, body, headers, expected) => {
    answering(status, body, headers);
    expect(await create()).toEqual({ outcome: "unavailable", ...expected });
    expect(calls).toHaveLength(1);
  });

  test("a silent service ends in a timeout after the configured time", { tags: "long" }, async () => {
    answer = () => {};
    const hurried = clientWith({ timeoutMilliseconds: 500 });
    const hurriedApi = await startTestApi(store.database, {}, hurried);
    const before = performance.now();
    const answered = await hurriedApi.client().codes.create.mutate({ userId: "42" });
    expect(answered).toEqual({ outcome: "unavailable", reason: "timeout" });
    // The usual time is 20 s here.
    expect(performance.now() - before).toBeLessThan(15_000);
    await hurriedApi.stop();
    await hurried.close();
  });

  test("an endless answer is cut off", { tags: "long" }, async () => {
    answer = (_request, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const chunk = Buffer.alloc(64 * 1024, " ");
      const pour = () => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on("drain", pour).on("error", () => {});
      pour();
    };
    expect(await create()).toMatchObject({ outcome: "unavailable" });
  });

  for (const status of [429, 502, 503, 504, 520, 524, 530]) {
    const tags = [429, 502].includes(status) ? [] : ["long"];
    const name = `a code is requested again after ${status}, which a proxy or a busy service answers`;
    test(name, { tags }, async () => {
      answering(status, "<html><h1>Bad gateway</h1></html>", { "content-type": "text/html" });
      const failing = answer;
      answer = (request, response, body) => {
        if (calls.length === 1) return failing(request, response, body);
        response.writeHead(200).end(JSON.stringify(issued));
      };
      expect(await create()).toMatchObject({ outcome: "created" });
      expect(calls).toHaveLength(2);
    });
  }

  test("a proxy that answers a page is named in the log, without its page, after three attempts", {
    tags: "long",
  }, async () => {
    const lines: string[] = [];
    const logging = await startTestApi(store.database, {}, adService, { log: (line) => lines.push(line) });
    answering(502, "<html><h1>Bad gateway</h1></html>", { "content-type": "text/html" });
    const answered = await logging.client().codes.create.mutate({ userId: "42" });
    expect(answered).toEqual({ outcome: "unavailable", reason: "ad-service-down" });
    expect(calls).toHaveLength(3);
    const host = `127.0.0.1:${(service.address() as AddressInfo).port}`;
    expect(lines.join("\n")).toContain(`502 from a proxy or another server at ${host}`);
    expect(lines.join("\n")).not.toContain("<h1>");
    await logging.stop();
  });

  test("a request whose kept-alive socket drops while it is written is repeated, three times at most", async () => {
    answering(200, issued);
    await create();
    let isFirst = true;
    answer = (request, response) => {
      if (isFirst) {
        isFirst = false;
        request.socket.destroy();
      } else response.writeHead(200).end(JSON.stringify(issued));
    };
    expect(await create()).toMatchObject({ outcome: "created" });
    answer = (request) => request.socket.destroy();
    calls = [];
    expect(await create()).toEqual({ outcome: "unavailable", reason: "ad-service-down" });
    expect(calls).toHaveLength(3);
  });

  test("an unreachable service is an outcome", async () => {
    service.closeAllConnections();
    await new Promise((resolve) => service.close(resolve));
    expect(await create()).toEqual({ outcome: "unavailable", reason: "ad-service-down" });
  });
});

import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import userIds from "@intermission/testing/user-ids.json" with { type: "json" };
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { startTestApi, type TestApi, testConfig } from "../../test/fixtures/api-fixture.ts";
import { startOfLedger } from "../ledger/watch-rewards.ts";
import { migrations } from "../migrations.ts";
import { type AnsweringPath, described, rewardEntry } from "./answers.ts";

let store: TestDatabase;
let api: TestApi;
const expires_at = new Date(Date.now() + 3_600_000).toISOString();
const issued = { outcome: "issued" as const, code: { code: "Code42", expires_in: 3600, expires_at } };
beforeAll(async () => {
  store = await openTestDatabase({ schema: "api", migrations });
  api = await startTestApi(store.database, {}, { createCode: async () => issued });
  for (const id of ["1", "2"]) {
    await api.deliver({ event: "rewarded", user_tg_id: "42", event_id: `evt_${id}`, code: `Code${id}` });
  }
});
afterAll(async () => {
  await api.stop();
  await store.dispose();
});

const backend = { authorization: `Bearer ${testConfig.backendApiKey}` };
const get = (url: string, headers: Record<string, string> = backend) => fetch(`${api.url}${url}`, { headers });
const post = (url: string, body: object, headers: Record<string, string> = backend) =>
  fetch(`${api.url}${url}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });

interface Document {
  openapi: string;
  components: { schemas: Record<string, object> };
  paths: Record<string, Record<string, { operationId: string; parameters?: { name: string; schema: object }[] }>>;
}
const documentOf = async (): Promise<Document> => (await get("/openapi.json", {})).json() as Promise<Document>;

const since = "2026-01-01T00:00:00Z";
const calls: Record<AnsweringPath, () => Promise<Response>> = {
  "telegramUser.signIn": () => post("/v1/telegram-user/sign-in", { initData: "user=1&hash=0" }, {}),
  "codes.create": () => post("/v1/codes/create", { userId: "42" }),
  "rewards.status": () => get("/v1/rewards/status?code=Code1&event=rewarded"),
  "rewards.list": () => get("/v1/rewards/list?userId=42&limit=1"),
  "rewards.balance": () => get("/v1/rewards/balance?userId=42"),
  "rewards.spend": () => post("/v1/rewards/spend", { userId: "42", amount: 1, idempotencyKey: "order 1" }),
  "rewards.cursor": () => get("/v1/rewards/cursor"),
  "receipts.latest": () => get("/v1/receipts/latest?limit=2"),
  "receipts.list": () => get(`/v1/receipts/list?outcome=credited&since=${since}`),
  "receipts.refused": () => get(`/v1/receipts/refused?since=${since}`),
  "users.kept": () => get("/v1/users/kept?userId=7"),
  "users.erase": () => post("/v1/users/erase", { userId: "7" }),
};

describe("every procedure is plain HTTP", () => {
  test("a code, and a spend, are of a person, by plain HTTP as by tRPC", async () => {
    for (const userId of userIds.people.slice(0, 3))
      expect((await post("/v1/codes/create", { userId })).status, userId).toBe(200);
    for (const userId of [...userIds.many_people, ...userIds.chats, ...userIds.no_ids]) {
      const spend = { userId, amount: 1, idempotencyKey: "order 2" };
      for (const response of [await post("/v1/codes/create", { userId }), await post("/v1/rewards/spend", spend)]) {
        expect(response.status, userId).toBe(400);
        expect(await response.json()).toMatchObject({ error: { code: "BAD_REQUEST" } });
      }
      const byTrpc = { data: { code: "BAD_REQUEST" } };
      await expect(api.client().codes.create.mutate({ userId }), userId).rejects.toMatchObject(byTrpc);
      await expect(api.client().rewards.spend.mutate(spend), userId).rejects.toMatchObject(byTrpc);
    }
  });

  test.each(Object.keys(calls) as AnsweringPath[])("%s answers what the OpenAPI document says", async (path) => {
    const response = await calls[path]();
    const answer = await response.json();
    expect({ status: response.status, answer }).toMatchObject({ status: 200 });
    expect(described[path].answer.parse(answer)).toEqual(answer);
  });

  test("the document lists each procedure once, with its method and its input", async () => {
    const { openapi, paths, components } = await documentOf();
    expect(openapi).toBe("3.1.1");
    const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
    expect(operations).toHaveLength(Object.keys(calls).length + 1);
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
    expect(paths["/v1/rewards/list"]?.get?.parameters).toMatchObject([
      { name: "userId", schema: { type: "string" } },
      { name: "cursor", schema: { type: "string" } },
      { name: "limit", schema: { type: "integer", minimum: 1, maximum: 100 } },
    ]);
    const schema = { $ref: "#/components/schemas/RewardsSpendRequest" };
    expect(paths["/v1/rewards/spend"]).toMatchObject({
      post: { requestBody: { content: { "application/json": { schema } } } },
    });
    expect(components.schemas.RewardsSpendRequest).toMatchObject({ required: expect.arrayContaining(["amount"]) });
  });

  test("the document names each type, and answers may gain fields", async () => {
    const document = await documentOf();
    const { schemas } = document.components;
    const refs = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(
      ([, name = ""]) => name,
    );
    expect([...new Set(refs)].filter((name) => schemas[name] === undefined)).toEqual([]);
    expect(refs).toEqual(expect.arrayContaining(["RewardEntry", "EventType", "RewardsListResponse"]));
    expect(JSON.stringify(document.paths)).not.toContain('"properties"');
    expect(JSON.stringify(schemas)).not.toContain('"additionalProperties":false');
  });
});

const own = "this API takes its own key for the bot's backend, the value that it has as BACKEND_API_KEY";
test.each([
  [undefined, "the Authorization header is missing; send: Authorization: Bearer <BACKEND_API_KEY>"],
  ["secret", "the Authorization header has a key and no word before it; send: Authorization: Bearer <BACKEND_API_KEY>"],
  ['Bearer "secret"', "the key in the Authorization header is in quotes: remove them from the client's setting"],
  ["Bearer ad_secret", `the Authorization header has an API token of the ad service; ${own}`],
  ["Bearer 7000000001:secret", `the Authorization header has a token of @BotFather; ${own}`],
  ["Bearer  secret", `the key in the Authorization header is of no bot here, or was replaced; ${own}`],
  [
    "Bearer 7000000001.secret",
    "the session token in the Authorization header is unknown or has expired: open the mini-app again",
  ],
])("the header %o is refused with what is wrong and the next step, and never shown", async (authorization, message) => {
  const headers = authorization === undefined ? {} : { authorization };
  for (const path of ["/v1/rewards/balance?userId=42", "/v1/rewards/list"]) {
    const response = await get(path, headers);
    expect([response.status, await response.json()]).toEqual([401, { error: { code: "UNAUTHORIZED", message } }]);
  }
});

describe("errors have the form of the other HTTP APIs", () => {
  test.each([
    ["without a key", () => get("/v1/rewards/balance?userId=42", {}), 401, "UNAUTHORIZED"],
    ["a field that is not valid", () => get("/v1/rewards/list?limit=many"), 400, "BAD_REQUEST"],
    ["a field that is missing", () => post("/v1/rewards/spend", { userId: "42" }), 400, "BAD_REQUEST"],
    ["no subject", () => get("/v1/rewards/balance"), 400, "BAD_REQUEST"],
    ["another method", () => get("/v1/rewards/spend"), 405, "METHOD_NOT_ALLOWED"],
    ["an unknown procedure", () => get("/v1/rewards/nothing"), 404, "NOT_FOUND"],
    ["a watch without a key", () => get("/v1/rewards/watch", {}), 401, "UNAUTHORIZED"],
    ["a cursor of another ledger", () => get("/v1/rewards/watch?lastEventId=nonsense"), 400, "BAD_REQUEST"],
  ])("%s", async (_what, call, status, code) => {
    const response = await call();
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({ error: expect.objectContaining({ code, message: expect.any(String) }) });
  });
});

describe("a moment in a request", () => {
  const listSince = (moment: string) => get(`/v1/receipts/list?since=${encodeURIComponent(moment)}`);
  const inTrpc = (moment: unknown) =>
    get(`/trpc/receipts.refused?input=${encodeURIComponent(JSON.stringify({ since: moment }))}`);

  test.each([
    ["2027-02-31", "2027-02 has 28 days"],
    ["1804000000", "Unix time in seconds"],
    ["2027-03-04T08:00:00", "offset"],
    ["03/04/2027", "such as 2026-01-31"],
  ])("%s is refused and says how to write it", async (moment, words) => {
    for (const response of [await listSince(moment), await inTrpc(moment)]) {
      const text = await response.text();
      expect({ status: response.status, text }).toEqual({ status: 400, text: expect.stringContaining(words) });
      expect(text).toContain("since");
    }
    expect((await inTrpc(1_804_000_000)).status).toBe(400);
  });

  test.each(["2026-01-31", "2026-01-31t08:00:00z", "2026-01-31T08:00:00.123456+09:00", "2026-01-31T08:00:00-00:00"])(
    "%s is accepted",
    async (moment) => {
      expect((await listSince(moment)).status).toBe(200);
      expect((await inTrpc(moment)).status).toBe(200);
    },
  );
});

test("a watch is server-sent events: each entry once from the cursor on, then live, and it continues from the last id", async () => {
  const read = async (headers: Record<string, string>) => {
    const line = new AbortController();
    const url = `${api.url}/v1/rewards/watch?from=start`;
    const response = await fetch(url, { headers: { ...backend, ...headers }, signal: line.signal });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": expect.stringMatching(/^text\/event-stream/),
      "x-accel-buffering": "no",
      "cache-control": "no-cache, no-transform",
    });
    const seen = { text: "", stop: () => line.abort() };
    const reading = async () => {
      for await (const chunk of response.body ?? []) seen.text += Buffer.from(chunk).toString();
    };
    reading().catch(() => {});
    return seen;
  };
  const idsIn = (text: string) => [...text.matchAll(/"eventId":"([^"]+)"/g)].map(([, id]) => id);
  const whole = await read({ "last-event-id": startOfLedger });
  await vi.waitFor(() => expect(idsIn(whole.text).slice(0, 2)).toEqual(["evt_1", "evt_2"]));
  await api.deliver({ event: "rewarded", user_tg_id: "42", event_id: "evt_live", code: "CodeLive" });
  await vi.waitFor(() => expect(idsIn(whole.text)).toEqual(["evt_1", "evt_2", "evt_live"]));
  whole.stop();
  const [, firstId = "", data = ""] = /^id: (.+)\ndata: (.+)$/m.exec(whole.text) ?? [];
  expect(rewardEntry.parse(JSON.parse(data))).toMatchObject({ eventId: "evt_1", userId: "42", amount: 10 });

  const rest = await read({ "last-event-id": firstId });
  await vi.waitFor(() => expect(idsIn(rest.text)).toEqual(["evt_2", "evt_live"]));
  rest.stop();
});

test("a watch that the server ends says so", async () => {
  const node = await startTestApi(store.database);
  const response = await fetch(`${node.url}/v1/rewards/watch`, { headers: backend });
  const text = response.text();
  await node.stop();
  expect(await text).toMatch(/event: fault\ndata: {"error":{"code":"UNAVAILABLE","message":"restarting"}}/);
});

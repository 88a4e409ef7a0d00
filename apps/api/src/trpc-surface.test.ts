import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { createTRPCClient, httpBatchLink, TRPCClientError } from "@trpc/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestApi, type TestApi, testConfig } from "../test/fixtures/api-fixture.ts";
import { migrations } from "./migrations.ts";
import type { AppRouter } from "./router.ts";

let store: TestDatabase;
let api: TestApi;
beforeAll(async () => {
  store = await openTestDatabase({ schema: "api", migrations });
  api = await startTestApi(store.database);
});
afterAll(async () => {
  await api.stop();
  await store.dispose();
});

const authorization = `Bearer ${testConfig.backendApiKey}`;
const documented = readFileSync(join(import.meta.dirname, "../../../docs/integrate.md"), "utf8");
const numberOf = (name: string) => Number(new RegExp(`${name}: (\\d+)`).exec(documented)?.[1]);
/** The limits of the documented client. */
const limits = { maxItems: numberOf("maxItems"), maxURLLength: numberOf("maxURLLength") };

function batchClient(link: { maxItems?: number; maxURLLength?: number }) {
  const url = `${api.url}/trpc`;
  return createTRPCClient<AppRouter>({ links: [httpBatchLink({ url, headers: { authorization }, ...link })] });
}

test.each([
  [{ userId: 42 }, "userId: must be a string, not a number: put it in quotes"],
  [{ user_id: "42" }, "userId: is missing"],
  [{ userId: "42", reference: null }, "reference: must be a string, not null; leave out what there is none of"],
  [{ userId: "42", reference: "" }, "reference: must not be empty"],
  [[], "input: must be a JSON object, not an array"],
])("the input %j is refused with what is wrong, where, and the next step", async (input, message) => {
  const { codes } = batchClient({});
  await expect(codes.create.mutate(input as never)).rejects.toMatchObject({ message });
});

describe("a batch", () => {
  test.each([1, 11, 13, 50, 100])(
    "%i queries in one tick are answered, without any limit of the client's",
    async (calls) => {
      const { rewards } = batchClient({});
      const answers = Array.from({ length: calls }, (_, index) => rewards.balance.query({ userId: String(index + 1) }));
      expect(await Promise.all(answers)).toEqual(answers.map(() => ({ balance: 0 })));
    },
  );

  test.each([101, 500])(
    "%i calls of each kind are split by the documented client, and all are answered",
    async (calls) => {
      const { rewards } = batchClient(limits);
      const queries = Array.from({ length: calls }, (_, index) => rewards.balance.query({ userId: String(index + 1) }));
      const spends = Array.from({ length: calls }, (_, index) =>
        rewards.spend.mutate({ userId: "9", amount: 1, idempotencyKey: `order ${index}` }),
      );
      expect(await Promise.all(queries)).toEqual(queries.map(() => ({ balance: 0 })));
      expect(await Promise.all(spends)).toEqual(spends.map(() => ({ outcome: "insufficient", balance: 0 })));
    },
  );

  test("too many calls are refused in a form that the client understands", async () => {
    const { rewards } = batchClient({});
    const spends = Array.from({ length: 101 }, (_, index) =>
      rewards.spend.mutate({ userId: "9", amount: 1, idempotencyKey: `order ${index}` }),
    );
    for (const { status, reason } of (await Promise.allSettled(spends)) as PromiseRejectedResult[]) {
      expect(status).toBe("rejected");
      expect(reason).toBeInstanceOf(TRPCClientError);
      expect(reason.data).toMatchObject({ code: "BAD_REQUEST", httpStatus: 400 });
    }
  });
});

const json = { "content-type": "application/json" };
const page = { origin: testConfig.miniappOrigin, "access-control-request-method": "GET" };
const refused: [what: string, path: string, init: RequestInit, status: number, code: string][] = [
  ["an unknown procedure", "/trpc/nothing", { headers: { authorization } }, 404, "NOT_FOUND"],
  ["no procedure", "/trpc", {}, 404, "NOT_FOUND"],
  ["a procedure with a path segment of its own", "/trpc/rewards/balance", {}, 404, "NOT_FOUND"],
  ["a list of procedures that is too long", `/trpc/${"x".repeat(4001)}`, {}, 414, "BAD_REQUEST"],
  ["an address that is not percent-encoded", "/trpc/%zz", {}, 400, "BAD_REQUEST"],
  ["PUT", "/trpc/rewards.balance", { method: "PUT", headers: json, body: "{}" }, 405, "METHOD_NOT_SUPPORTED"],
  ["DELETE", "/trpc/rewards.balance", { method: "DELETE" }, 405, "METHOD_NOT_SUPPORTED"],
  ["a body without a content type", "/trpc/rewards.spend", { method: "POST" }, 415, "UNSUPPORTED_MEDIA_TYPE"],
  [
    "a body that is too large",
    "/trpc/rewards.spend",
    { method: "POST", headers: json, body: `"${"x".repeat(70_000)}"` },
    413,
    "PAYLOAD_TOO_LARGE",
  ],
  [
    "a stream of one call",
    "/trpc/rewards.balance",
    { headers: { "trpc-accept": "application/jsonl" } },
    400,
    "BAD_REQUEST",
  ],
  ["OPTIONS that is not a preflight", "/trpc/rewards.balance", { method: "OPTIONS" }, 400, "BAD_REQUEST"],
  [
    "a preflight of another page",
    "/trpc/rewards.balance",
    { method: "OPTIONS", headers: { ...page, origin: "https://evil.example" } },
    403,
    "FORBIDDEN",
  ],
];

describe("every error below /trpc has tRPC's form", () => {
  test.each(refused)("%s", async (_what, path, init, httpStatus, code) => {
    const response = await fetch(api.url + path, init);
    expect(response.status).toBe(httpStatus);
    expect(response.headers.get("content-type")).toMatch(/^application\/json/);
    expect(await response.json()).toEqual({
      error: {
        message: expect.any(String),
        code: expect.any(Number),
        data: expect.objectContaining({ code, httpStatus }),
      },
    });
  });

  test("the mini-app's own preflight passes", async () => {
    const response = await fetch(`${api.url}/trpc/rewards.balance`, { method: "OPTIONS", headers: page });
    expect(response.status).toBe(204);
    expect(response.headers.get("access-control-allow-origin")).toBe(testConfig.miniappOrigin);
  });
});

test.each([
  ["GET", "/operator"],
  ["GET", "/operator?x=1"],
  ["GET", "/operator/bots.list"],
  ["POST", "/operator/bots.add"],
  ["PUT", "/operator/bots.list"],
  ["OPTIONS", "/operator/"],
  ["GET", "/operator/%2e%2e/x"],
])("%s %s on the port is answered like any path at which there is nothing", async (method, path) => {
  const [answer, unknown] = await Promise.all([path, "/nothing"].map((at) => fetch(`${api.url}${at}`, { method })));
  expect(answer?.status).toBe(404);
  const message = expect.stringMatching(/^there is nothing at this path; .*\/trpc and \/v1.*\/webhooks\/ads.*console/);
  expect(await answer?.json()).toEqual({ error: { code: "NOT_FOUND", message } });
  expect(unknown?.status).toBe(404);
});

test.each<[string, object, RegExp]>([
  ["rewards.spend", { userId: "42", amount: 0, idempotencyKey: "order 7" }, /^amount: /],
  ["rewards.spend", { userId: 42, amount: 1 }, /^userId: .*; idempotencyKey: /],
  ["codes.create", {}, /^userId: /],
])("%s with %j is refused in a sentence that names the fields", async (path, input, expected) => {
  const headers = { authorization, "content-type": "application/json" };
  const answer = await fetch(`${api.url}/trpc/${path}`, { method: "POST", headers, body: JSON.stringify(input) });
  const { error } = (await answer.json()) as { error: { message: string } };
  expect(answer.status).toBe(400);
  expect(error.message).toMatch(expected);
  expect(error.message).not.toMatch(/[[{"]code/);
});

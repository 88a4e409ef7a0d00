import type { OperatorRoutes } from "@intermission/operator-api/route";
import { afterEach, beforeEach, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { type CheckedScope, checkRequests } from "./checked-routes.ts";
import { createHttpServer } from "./http-server.ts";
import { createLogger } from "./logger.ts";
import { refusal } from "./refuse.ts";
import { type OperatorHandlers, serveOperatorRoutes } from "./serve-operator-routes.ts";

const routes = {
  addThing: {
    method: "POST",
    path: "/things/:id",
    access: "anyone",
    changes: null,
    description: "Adds a thing.",
    params: z.object({ id: z.string() }),
    query: z.object({ count: z.coerce.number().default(1) }),
    body: z.object({ name: z.string() }),
    status: 201,
    answer: z.object({ id: z.string(), name: z.string(), count: z.number() }),
  },
  measureFile: {
    method: "PUT",
    path: "/files",
    access: "anyone",
    changes: null,
    description: "Measures a file.",
    body: "file",
    answer: z.object({ bytes: z.number() }),
  },
  showOldThing: {
    method: "GET",
    path: "/old-things/:id",
    access: "anyone",
    description: "Returns a thing, as `GET /things/:id` does.",
    deprecated: { since: "2026-03-01", sunset: "2026-09-01" },
    params: z.object({ id: z.string().max(3) }),
    answer: z.object({ id: z.string() }),
  },
} as const satisfies OperatorRoutes;

const handlers: OperatorHandlers<typeof routes> = {
  addThing: async ({ params, query, body }) => ({ ...params, ...query, ...body }),
  showOldThing: async ({ params }) => params,
  async measureFile({ body }) {
    let bytes = 0;
    for await (const chunk of body) bytes += chunk.byteLength;
    return { bytes };
  },
};

let scope: CheckedScope;
beforeEach(() => {
  scope = checkRequests(createHttpServer({ logger: createLogger({ level: "silent", name: "test" }) }));
  scope.addHook("onRequest", async ({ headers }) => {
    if (headers.authorization === "Bearer wrong") throw refusal(401, "UNAUTHORIZED", "the token is unknown");
  });
  serveOperatorRoutes(scope, routes, handlers);
});
afterEach(() => scope.close());

test("a handler gets what the schemas of its route made, and its answer has the route's status", async () => {
  const answer = await scope.inject({ method: "POST", url: "/things/7?count=3", payload: { name: "a", other: 1 } });
  expect({ status: answer.statusCode, body: answer.json() }).toEqual({
    status: 201,
    body: { id: "7", name: "a", count: 3 },
  });
  expect((await scope.inject({ method: "POST", url: "/things/7", payload: {} })).statusCode).toBe(400);
});

test("each answer of a deprecated route says since when it is and when it ends, and no other answer does", async () => {
  const old = await scope.inject({ method: "GET", url: "/old-things/7" });
  const refused = await scope.inject({ method: "GET", url: "/old-things/7777" });
  const authorization = "Bearer wrong";
  const stranger = await scope.inject({ method: "GET", url: "/old-things/7", headers: { authorization } });
  expect([old.statusCode, refused.statusCode, stranger.statusCode]).toEqual([200, 400, 401]);
  for (const { headers } of [old, refused, stranger])
    expect(headers).toMatchObject({ deprecation: "@1772323200", sunset: "Tue, 01 Sep 2026 00:00:00 GMT" });
  const { headers } = await scope.inject({ method: "POST", url: "/things/7", payload: { name: "a" } });
  expect(headers).not.toHaveProperty("deprecation");
  expect(headers).not.toHaveProperty("sunset");
});

test("what the store cannot hold, a zero character or half of one, is refused wherever it stands", async () => {
  const post = (url: string, name: string) => scope.inject({ method: "POST", url, payload: { name } });
  for (const [answer, message] of [
    [await post("/things/7%00", "a"), "id must not contain U+0000"],
    [await post("/things/7?count=%00", "a"), "count must not contain U+0000"],
    [await post("/things/7", "a\0"), "name must not contain U+0000"],
    [await post("/things/7", "😀".slice(0, 1)), "name must not contain half a character (an unpaired surrogate)"],
  ] as const) {
    const { error } = answer.json() as { error: { message: string } };
    expect([answer.statusCode, error.message]).toEqual([400, message]);
  }
  expect((await post("/things/7", "😀")).statusCode).toBe(201);
  const nested = `{"name":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
  const headers = { "content-type": "application/json" };
  expect((await scope.inject({ method: "POST", url: "/things/7", headers, payload: nested })).statusCode).toBe(400);
});

test("a file arrives as a stream, and as nothing else", async () => {
  const put = (type: string) =>
    scope.inject({ method: "PUT", url: "/files", headers: { "content-type": type }, payload: "12345" });
  expect((await put("application/octet-stream")).json()).toEqual({ bytes: 5 });
  expect((await put("text/plain")).statusCode).toBe(400);
});

test("a part of the table without a handler for each route, or with another answer, does not compile", () => {
  type Handlers = OperatorHandlers<typeof routes>;
  expectTypeOf<Pick<Handlers, "addThing">>().not.toExtend<Handlers>();
  expectTypeOf<
    Omit<Handlers, "measureFile"> & { measureFile: () => Promise<{ size: number }> }
  >().not.toExtend<Handlers>();
  expectTypeOf<Awaited<ReturnType<Handlers["addThing"]>>>().toEqualTypeOf<{
    id: string;
    name: string;
    count: number;
  }>();
});

import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { type CheckedScope, checkRequests } from "./checked-routes.ts";
import { createHttpServer } from "./http-server.ts";
import { createLogger } from "./logger.ts";

let scope: CheckedScope;
let logged: string[];
beforeEach(() => {
  logged = [];
  const logger = createLogger({ level: "error", name: "test", write: (line) => logged.push(line) });
  scope = checkRequests(createHttpServer({ logger }));
});
afterEach(() => scope.close());

const post = async (url: string, payload?: object | string) => {
  const headers = payload === undefined ? {} : { "content-type": "application/json" };
  const answer = await scope.inject({ method: "POST", url, headers, ...(payload !== undefined && { payload }) });
  return { status: answer.statusCode, body: answer.json<unknown>() };
};

test("a request that does not fit is refused with its fields and never with its values", async () => {
  const params = z.object({ id: z.string().regex(/^\d+$/, "must be digits") });
  const body = z.object({ name: z.string().max(3, "must have 3 characters at most") });
  scope.post("/things/:id", { schema: { params, body } }, async () => ({}));
  const refusal = (field: string, message: string) => ({
    status: 400,
    body: { error: { code: "BAD_REQUEST", message: `${field}: ${message}`, details: [{ field, message }] } },
  });
  expect(await post("/things/x", { name: "secret" })).toEqual(refusal("id", "must be digits"));
  expect(await post("/things/1", { name: "secret" })).toEqual(refusal("name", "must have 3 characters at most"));
});

test("the handler gets what the schemas made: defaults filled in, unknown fields removed", async () => {
  const body = z.object({ event: z.string().default("rewarded") });
  scope.post("/tests", { schema: { body } }, async (request) => request.body);
  expect(await post("/tests")).toEqual({ status: 200, body: { event: "rewarded" } });
  expect(await post("/tests", { other: 1 })).toEqual({ status: 200, body: { event: "rewarded" } });
});

test("an answer is sent as it is, even if it does not fit its schema", async () => {
  const response = { 200: z.object({ known: z.string() }) };
  scope.post("/answers", { schema: { response } }, async () => ({ known: "a", added: "later" }));
  expect(await post("/answers")).toEqual({ status: 200, body: { known: "a", added: "later" } });
});

test("a fault in a schema's own code is answered 500 and logged, not blamed on the caller", async () => {
  const body = z.object({}).transform(() => {
    throw new Error("a bug");
  });
  scope.post("/faults", { schema: { body } }, async () => ({}));
  expect(await post("/faults", {})).toMatchObject({ status: 500, body: { error: { code: "INTERNAL" } } });
  expect(logged.join()).toContain("a bug");
});

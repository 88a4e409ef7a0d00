import type { FastifyInstance } from "fastify";
import { afterAll, beforeAll, expect, test } from "vitest";
import { serveApiReference } from "./api-reference.ts";
import { createHttpServer, refuseOtherMethods } from "./http-server.ts";
import { createLogger } from "./logger.ts";

let app: FastifyInstance;
beforeAll(async () => {
  app = createHttpServer({ logger: createLogger({ level: "silent", name: "test" }) });
  const documents = [
    { title: "Client API", path: "/client/v1/openapi.json" },
    { title: "Player API", path: "/player/v1/openapi.json" },
  ];
  serveApiReference(app, { title: "Example: <server>", documents });
  refuseOtherMethods(app);
});
afterAll(() => app.close());

test("the page names the server and its documents, and loads nothing from another address", async () => {
  expect((await app.inject("/docs")).headers.location).toBe("/docs/");
  const { statusCode, headers, body } = await app.inject("/docs/");
  expect({ statusCode, type: headers["content-type"] }).toEqual({ statusCode: 200, type: "text/html; charset=utf-8" });
  expect(body).toContain("<title>Example: &lt;server&gt;</title>");
  for (const path of ["../client/v1/openapi.json", "../player/v1/openapi.json"]) expect(body).toContain(path);
  expect(body).not.toMatch(/https?:|\/\/[a-z]/i);
});

test("its policy allows the page's own scripts and calls, and no other address", async () => {
  const policy = String((await app.inject("/docs/")).headers["content-security-policy"]);
  expect(policy).toContain("default-src 'none'");
  expect(policy).toMatch(/script-src 'self' 'sha256-[\w+/]{43}='(;|$)/);
  expect(policy).toContain("connect-src 'self';");
  expect(policy).not.toMatch(/https?:|\*|unsafe-eval/);
});

test("the script comes from this server, and clients may cache it", async () => {
  const [, script = ""] = /<script src="([^"]+)"/.exec((await app.inject("/docs/")).body) ?? [];
  const { statusCode, headers, body } = await app.inject(new URL(script, "http://localhost/docs/").pathname);
  expect({ statusCode, type: headers["content-type"], cache: headers["cache-control"] }).toEqual({
    statusCode: 200,
    type: "application/javascript; charset=utf-8",
    cache: "max-age=86400",
  });
  expect(body).toContain("createApiReference");
});

test("an unknown path below the page is not found", async () => {
  const { statusCode, body } = await app.inject("/docs/unknown.js");
  expect({ statusCode, code: JSON.parse(body).error.code }).toEqual({ statusCode: 404, code: "NOT_FOUND" });
});

test("a wrong method is refused with the error body", async () => {
  const { statusCode, body } = await app.inject({ method: "POST", url: "/docs/" });
  expect({ statusCode, code: JSON.parse(body).error.code }).toEqual({ statusCode: 405, code: "METHOD_NOT_ALLOWED" });
});

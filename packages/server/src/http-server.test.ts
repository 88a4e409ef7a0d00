import { connect, type Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createHttpServer, HttpError, refuseOtherMethods } from "./http-server.ts";

let app: FastifyInstance;
let url = "";
beforeAll(async () => {
  app = createHttpServer({ logger: pino({ level: "silent" }), bodyLimit: 1000, requestTimeoutMs: 400 });
  app.get("/things/:id", async () => ({ ok: true }));
  app.post("/files", { config: { bodyTimeoutMs: 10_000 } }, async () => ({}));
  app.post("/things", async () => ({ ok: true }));
  const onRequest = () => new Promise<void>((resolve) => setTimeout(resolve, 800));
  app.post("/checked", { onRequest }, async () => ({ ok: true }));
  app.get("/endless", (_request, reply) => {
    reply.hijack();
    reply.raw.writeHead(200, { "transfer-encoding": "identity" });
    reply.raw.write("begun");
  });
  app.get("/crash", async () => {
    throw new Error("the password is 1234");
  });
  app.get("/teapot", async () => {
    throw new HttpError(429, "TOO_MANY_REQUESTS", "slow down", { headers: { "retry-after": "3" } });
  });
  refuseOtherMethods(app);
  url = await app.listen({ host: "127.0.0.1", port: 0 });
});
afterAll(() => app.close());

const json = { "content-type": "application/json" };
const cases: [what: string, path: string, init: RequestInit, status: number, code: string][] = [
  ["an unknown path", "/nothing", {}, 404, "NOT_FOUND"],
  ["a malformed path", "/%zz", {}, 400, "BAD_REQUEST"],
  ["a wrong method", "/things/1", { method: "DELETE" }, 405, "METHOD_NOT_ALLOWED"],
  ["a wrong method with a body", "/things/1", { method: "POST", body: "x", headers: json }, 405, "METHOD_NOT_ALLOWED"],
  ["malformed JSON", "/things", { method: "POST", body: "{secret", headers: json }, 400, "BAD_REQUEST"],
  ["an empty JSON body", "/things", { method: "POST", body: "", headers: json }, 400, "BAD_REQUEST"],
  [
    "an oversized body",
    "/things",
    { method: "POST", body: `"${"x".repeat(2000)}"`, headers: json },
    413,
    "BODY_TOO_LARGE",
  ],
  [
    "another media type",
    "/things",
    { method: "POST", body: "a=1", headers: { "content-type": "text/css" } },
    415,
    "UNSUPPORTED_MEDIA_TYPE",
  ],
  ["a crash", "/crash", {}, 500, "INTERNAL"],
  ["an error of a route", "/teapot", {}, 429, "TOO_MANY_REQUESTS"],
];

describe("every error has the error body and a request id", () => {
  test.each(cases)("%s", async (_what, path, init, status, code) => {
    const response = await fetch(url + path, init);
    expect(response.status).toBe(status);
    const text = await response.text();
    expect(JSON.parse(text)).toMatchObject({ error: { code, message: expect.any(String) } });
    expect(text).not.toMatch(/secret|1234/);
    expect(response.headers.get("x-request-id")).toMatch(/^[A-Za-z0-9_-]{8,64}$/);
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  });
});

test("the message of a failure has the request id, under which the log has the reason: a reader may see the text alone", async () => {
  const response = await fetch(`${url}/crash`);
  const { error } = (await response.json()) as { error: { message: string } };
  expect(error.message).toContain(response.headers.get("x-request-id") ?? "no id");
});

test("the answer to a wrong method lists the allowed ones", async () => {
  const response = await fetch(`${url}/things`, { method: "PUT" });
  expect(response.headers.get("allow")).toBe("POST");
});

const head = "GET /things/1 HTTP/1.1\r\nhost: x\r\n";
const post = "POST /things HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n";
test.each([
  ["bytes that are not HTTP", "HELO there\r\n\r\n", 400, "BAD_REQUEST"],
  ["a request without a host", "GET /things/1 HTTP/1.1\r\nconnection: close\r\n\r\n", 400, "BAD_REQUEST"],
  [
    "an unknown expectation",
    "GET /nothing HTTP/1.1\r\nhost: x\r\nexpect: tea\r\nconnection: close\r\n\r\n",
    404,
    "NOT_FOUND",
  ],
  ["headers of 20 kB", `${head}x-long: ${"x".repeat(20_000)}\r\n\r\n`, 431, "HEADERS_TOO_LARGE"],
  ["an address of 20 kB", `GET /${"x".repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`, 431, "HEADERS_TOO_LARGE"],
  ["headers that never end", `${head}x-slow: `, 408, "REQUEST_TIMEOUT"],
  ["a body that never ends", `${post}content-length: 100\r\n\r\n{`, 408, "REQUEST_TIMEOUT"],
  ["a body that declares a length above the limit", `${post}content-length: 1001\r\n\r\n{`, 413, "BODY_TOO_LARGE"],
  [
    "a chunked body that exceeds the limit",
    `${post}transfer-encoding: chunked\r\n\r\n${`100\r\n${"x".repeat(256)}\r\n`.repeat(5)}`,
    413,
    "BODY_TOO_LARGE",
  ],
  [
    "chunk extensions of 20 kB",
    `${post}transfer-encoding: chunked\r\n\r\n1;${"x".repeat(20_000)}\r\n{\r\n`,
    413,
    "BODY_TOO_LARGE",
  ],
])("%s: the answer has the error body", async (_what, bytes, status, code) => {
  const answer = await answerTo(bytes);
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(answer).toMatch(/\r\nx-request-id: \S+\r\n/);
  expect(JSON.parse(answer.split("\r\n\r\n")[1] ?? "")).toMatchObject({ error: { code } });
});

test.each([
  ["CONNECT to a host", "CONNECT example.com:443 HTTP/1.1\r\nhost: x\r\n\r\n", 405, "METHOD_NOT_ALLOWED"],
  ["CONNECT to a path", "CONNECT /things/1 HTTP/1.1\r\nhost: x\r\n\r\n", 405, "METHOD_NOT_ALLOWED"],
  ["TRACE", "TRACE /things/1 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n", 405, "METHOD_NOT_ALLOWED"],
  ["OPTIONS", "OPTIONS /things/1 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n", 405, "METHOD_NOT_ALLOWED"],
  ["PROPFIND", "PROPFIND /things/1 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n", 405, "METHOD_NOT_ALLOWED"],
  ["PURGE", "PURGE /things HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n", 405, "METHOD_NOT_ALLOWED"],
  ["OPTIONS of all", "OPTIONS * HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n", 404, "NOT_FOUND"],
  [
    "an upgrade at an unknown path",
    "GET /nothing HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n",
    404,
    "NOT_FOUND",
  ],
  ["an unknown method", "FOO /things/1 HTTP/1.1\r\nhost: x\r\n\r\n", 400, "BAD_REQUEST"],
  ["an unknown HTTP version", "GET /things/1 HTTP/9.9\r\nhost: x\r\n\r\n", 400, "BAD_REQUEST"],
  ["an invalid host", "GET /things/1 HTTP/1.1\r\nhost: a b\r\nconnection: close\r\n\r\n", 400, "BAD_REQUEST"],
  ["a host with a user", "GET /things/1 HTTP/1.1\r\nhost: a@b\r\nconnection: close\r\n\r\n", 400, "BAD_REQUEST"],
  [
    "a path that is too long",
    `GET /things/${"x".repeat(300)} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`,
    414,
    "ADDRESS_TOO_LONG",
  ],
])("%s: the answer has the error body, and the address is not repeated", async (_what, bytes, status, code) => {
  const answer = await answerTo(bytes, (socket) => setTimeout(() => socket.end(), 300));
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(answer).toMatch(/\r\nx-request-id: \S+\r\n/);
  expect(JSON.parse(answer.split("\r\n\r\n")[1] ?? "")).toMatchObject({ error: { code } });
  expect(answer).not.toContain("xxx");
});

test("a request whose body breaks off after its answer gets no second answer", async () => {
  const bytes = `${head}transfer-encoding: chunked\r\n\r\n5\r\nab`;
  const answer = await answerTo(bytes, (socket) => socket.once("data", () => socket.write("zz\r\nzz\r\n")));
  expect(answer.match(/HTTP\/1\.1 \d{3}/g)).toEqual(["HTTP/1.1 200"]);
});

test("HTTP/1.0 without a host, and a request for an unsupported upgrade, are served", async () => {
  expect(await answerTo("GET /things/1 HTTP/1.0\r\n\r\n")).toMatch(/^HTTP\/1\.1 200 [\s\S]*"ok":true/);
  const upgrade = `${head}connection: upgrade, close\r\nupgrade: h2c\r\n\r\n`;
  expect(await answerTo(upgrade, (socket) => setTimeout(() => socket.end(), 300))).toMatch(/^HTTP\/1\.1 200 /);
});

test("a route for large files may take longer for its body than the others", async () => {
  const answer = await answerTo(`${post.replace("/things", "/files")}content-length: 2\r\n\r\n{`, (socket) => {
    setTimeout(() => socket.end("}"), 1200);
  });
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
});

test("a body that has arrived is not late, even if an onRequest hook takes longer than the timeout", async () => {
  const request = `${post.replace("/things", "/checked")}connection: close\r\ncontent-length: 2\r\n\r\n`;
  const answer = await answerTo(request, (socket) => setTimeout(() => socket.write("{}"), 100));
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
});

test("a route with answerTimeoutMs may take longer for its answer than the timeout of a silent connection", async () => {
  const server = createHttpServer({ logger: pino({ level: "silent" }) });
  server.server.setTimeout(200);
  const work = async () => {
    await new Promise((resolve) => setTimeout(resolve, 600));
    return { ok: true };
  };
  server.post("/work", { config: { answerTimeoutMs: 10_000 } }, work);
  server.post("/things", work);
  const to = await server.listen({ host: "127.0.0.1", port: 0 });
  const request = (path: string) => `${post.replace("/things", path)}connection: close\r\ncontent-length: 2\r\n\r\n{}`;
  expect(await answerTo(request("/work"), undefined, to)).toMatch(/^HTTP\/1\.1 200 /);
  expect(await answerTo(request("/things"), undefined, to)).toBe("");
  await server.close();
});

/** Sends bytes and returns everything received until the server ends the connection; `onSocket` may send more. */
function answerTo(bytes: string, onSocket: (socket: Socket) => void = () => {}, to = url): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(to).port), "127.0.0.1", () => socket.write(bytes));
    onSocket(socket);
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk;
    });
    socket.on("error", () => {});
    socket.once("close", () => resolve(text));
  });
}

test("no second answer follows a begun one", async () => {
  const answer = await answerTo("GET /endless HTTP/1.1\r\nhost: x\r\n\r\n", (socket) =>
    socket.once("data", () => socket.write("HELO\r\n\r\n")),
  );
  expect(answer).toMatch(/begun$/);
});

test("a request on an open connection is served while the server closes, and then the connection ends", async () => {
  const closing = createHttpServer({ logger: pino({ level: "silent" }) });
  const arrived = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  closing.get("/slow", async () => {
    arrived.resolve();
    await released.promise;
    return { served: 1 };
  });
  closing.get("/late", async () => {
    released.resolve();
    return { served: 2 };
  });
  const address = await closing.listen({ host: "127.0.0.1", port: 0 });
  let late = (): unknown => undefined;
  const answer = answerTo(
    "GET /slow HTTP/1.1\r\nhost: x\r\n\r\n",
    (socket) => {
      late = () => socket.write("GET /late HTTP/1.1\r\nhost: x\r\n\r\n");
    },
    address,
  );
  await arrived.promise;
  const closed = closing.close();
  late();
  await closed;
  expect(await answer).toMatch(/served":1[\s\S]*connection: close[\s\S]*served":2/i);
});

test("a connection without requests does not delay the close", async () => {
  const closing = createHttpServer({ logger: pino({ level: "silent" }) });
  const address = new URL(await closing.listen({ host: "127.0.0.1", port: 0 }));
  const isKnown = new Promise((resolve) => closing.server.once("connection", resolve));
  const socket = connect(Number(address.port), address.hostname);
  const isEnded = new Promise((resolve) => socket.once("close", resolve));
  await isKnown;
  await closing.close();
  await isEnded;
});

test("a well-formed request id is kept, another is replaced", async () => {
  const kept = await fetch(`${url}/things/1`, { headers: { "x-request-id": "abc-12345" } });
  expect(kept.headers.get("x-request-id")).toBe("abc-12345");
  const replaced = await fetch(`${url}/things/1`, { headers: { "x-request-id": "<script>" } });
  expect(replaced.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
});

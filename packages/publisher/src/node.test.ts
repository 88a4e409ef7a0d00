import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { connect as connectHttp2, createServer as createHttp2Server } from "node:http2";
import { type AddressInfo, connect } from "node:net";
import { runInNewContext } from "node:vm";
import { sign, signStandardWebhook } from "@intermission/ad-core/signature";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import { afterEach, expect, test, vi } from "vitest";
import { toNodeHandler } from "./node.ts";
import { webhook } from "./webhook.ts";

const token = "ad_test";
const stops: (() => unknown)[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const stop of stops.splice(0)) await stop();
});

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stops.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`;
}

/** Its bytes differ from those of `JSON.stringify(JSON.parse(body))`. */
const body = Buffer.from('{ "event":"rewarded",\n"event_id":"evt_1","user_tg_id":"42","reference":"Bestellung №7" }');
function signed(): RequestInit {
  const timestampSeconds = Math.floor(Date.now() / 1000);
  const headers = {
    "content-type": "application/json; charset=utf-8",
    "x-signature": sign(body, token),
    ...signStandardWebhook({ id: "evt_1", timestampSeconds, body, tokens: [token] }),
  };
  return { method: "POST", headers, body };
}

const mounts: Record<string, (handle: (request: Request) => Promise<Response>) => Promise<string>> = {
  "node:http": (handle) => listen(toNodeHandler(handle)),
  Express(handle) {
    const app = express();
    app.post("/webhook", toNodeHandler(handle));
    app.use(express.json());
    return listen(app);
  },
  "Express behind express.raw()"(handle) {
    const app = express();
    app.post("/webhook", express.raw({ type: "*/*" }), toNodeHandler(handle));
    return listen(app);
  },
  "Express behind express.json() that keeps rawBody"(handle) {
    const app = express();
    const verify = (request: object, _response: unknown, rawBody: Buffer) => void Object.assign(request, { rawBody });
    app.use(express.json({ verify }));
    app.post("/webhook", toNodeHandler(handle));
    return listen(app);
  },
  "Express behind express.text()"(handle) {
    const app = express();
    app.post("/webhook", express.text({ type: "*/*" }), toNodeHandler(handle));
    return listen(app);
  },
  async Fastify(handle) {
    const app = fastify();
    const listener = toNodeHandler(handle);
    app.register(async (scope) => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser("*", (_request, _body, done) => done(null));
      scope.post("/webhook", (request, reply) => {
        reply.hijack();
        return listener(request.raw, reply.raw);
      });
    });
    stops.push(() => app.close());
    return `${await app.listen({ host: "127.0.0.1", port: 0 })}/webhook`;
  },
  Hono(handle) {
    const app = new Hono();
    app.post("/webhook", (context) => handle(context.req.raw));
    return listen(toNodeHandler(async (request) => app.request("/webhook", request)));
  },
  Next(handle) {
    // app/webhook/route.ts
    const route = { POST: handle };
    return listen(toNodeHandler((request) => route.POST(request)));
  },
};

test.each(Object.entries(mounts))(
  "%s: the handler gets the event, and forged bytes are refused",
  async (_name, mount) => {
    const handle = vi.fn();
    const url = await mount(webhook(handle, { tokens: token }));
    expect(await fetch(url, signed()).then(async (answer) => [answer.status, await answer.json()])).toEqual([
      200,
      { status: "ok" },
    ]);
    expect(handle).toHaveBeenCalledWith(expect.objectContaining({ userId: "42", reference: "Bestellung №7" }));
    expect((await fetch(url, { ...signed(), body: body.toString().replace("42", "43") })).status).toBe(401);
    expect(handle).toHaveBeenCalledTimes(1);
  },
);

test("bytes of another realm, as those of Jest's tests, are bytes", async () => {
  const { Uint8Array: OfOtherRealm } = runInNewContext("({ Uint8Array })") as { Uint8Array: typeof Uint8Array };
  for (const name of ["rawBody", "body"]) {
    const handle = vi.fn();
    const receive = toNodeHandler(webhook(handle, { tokens: token }));
    const url = await listen((request, response) => {
      request.on("data", () => {});
      request.on("end", () => receive(Object.assign(request, { [name]: OfOtherRealm.from(body) }), response));
    });
    expect((await fetch(url, signed())).status).toBe(200);
    expect(handle).toHaveBeenCalledTimes(1);
  }
});

test("behind express.json() the error says where to mount the webhook", async () => {
  const app = express();
  app.use(express.json());
  app.post("/webhook", toNodeHandler(webhook(() => {}, { tokens: token })));
  app.use(((error, _request, response, _next) => {
    response.status(500).json({ message: error.message });
  }) satisfies express.ErrorRequestHandler);
  const answer = await fetch(await listen(app), signed());
  expect(answer.status).toBe(500);
  expect(await answer.json()).toEqual({
    message: expect.stringMatching(/mount the webhook before the parser.*bodyParser: false/),
  });
});

test("a method that no Request can have is answered 405", async () => {
  const url = new URL(await listen(toNodeHandler(async () => new Response())));
  const socket = connect(Number(url.port), url.hostname);
  socket.end("TRACE /webhook HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  const [first] = await once(socket, "data");
  expect(String(first)).toMatch(/^HTTP\/1.1 405 /);
});

test("a handler that throws is answered 500 and logged", async () => {
  const logged = vi.spyOn(console, "error").mockImplementation(() => {});
  const url = await listen(toNodeHandler(() => Promise.reject(new Error("a bug"))));
  const answer = await fetch(url, signed());
  expect([answer.status, await answer.json()]).toEqual([
    500,
    { error: expect.objectContaining({ code: "NOT_HANDLED" }) },
  ]);
  expect(logged).toHaveBeenCalledWith(expect.any(String), new Error("a bug"));
});

test("a body of 20 MB is answered 413 while it is being sent, and the connection stays usable", {
  tags: "long",
}, async () => {
  const url = await listen(toNodeHandler(webhook(() => {}, { tokens: token })));
  for (let count = 0; count < 5; count++) {
    const body = new Uint8Array(20 * 1024 * 1024);
    const tooLarge = await fetch(url, { method: "POST", body });
    expect([tooLarge.status, await tooLarge.json()]).toMatchObject([413, { error: { code: "TOO_LARGE" } }]);
    expect((await fetch(url, signed())).status).toBe(200);
  }
});

test("a sender that disconnects in the middle of a body ends the handler", async () => {
  vi.spyOn(console, "error").mockImplementation(() => {});
  const ended = Promise.withResolvers<unknown>();
  const listener = toNodeHandler(async (request) => {
    await request.text().catch(ended.resolve);
    return new Response();
  });
  const url = new URL(await listen(listener));
  const socket = connect(Number(url.port), url.hostname);
  socket.write("POST / HTTP/1.1\r\nhost: bot.test\r\ncontent-length: 100\r\n\r\nbeginning");
  setTimeout(() => socket.destroy(), 50);
  expect(await ended.promise).toBeInstanceOf(Error);
});

test("a request that breaks off in its body leaves no line in the log", async () => {
  const logged = vi.spyOn(console, "error").mockImplementation(() => {});
  const receive = toNodeHandler(webhook(() => {}, { tokens: token }));
  const ended = Promise.withResolvers<void>();
  const next = vi.fn();
  const url = new URL(
    await listen((request, response) => void receive(request, response, next).then(ended.resolve, ended.reject)),
  );
  const socket = connect(Number(url.port), url.hostname);
  socket.write("POST / HTTP/1.1\r\nhost: bot.test\r\ncontent-length: 100\r\n\r\nbeginning");
  setTimeout(() => socket.destroy(), 50);
  await ended.promise;
  expect(next).not.toHaveBeenCalled();
  expect(logged).not.toHaveBeenCalled();
});

test("HTTP/2, as of Fastify's and Node's own servers, has a method and a path among its headers", async () => {
  const handled: string[] = [];
  const listener = toNodeHandler(webhook(({ userId }) => void handled.push(userId), { tokens: token }));
  // Node's requests and answers of HTTP/2 have the interface of those of HTTP/1.
  const server = createHttp2Server(listener as unknown as Parameters<typeof createHttp2Server>[1]);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stops.push(() => server.close());
  const client = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  stops.push(() => client.close());
  const request = client.request({ ":method": "POST", ":path": "/webhook", ...(signed().headers as object) });
  request.end(body);
  const [headers] = await once(request, "response");
  expect([headers[":status"], handled]).toEqual([200, ["42"]]);
  request.resume();
  await once(request, "end");
});

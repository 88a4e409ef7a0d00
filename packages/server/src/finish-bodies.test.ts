import { Agent, request as send } from "node:http";
import { connect } from "node:net";
import { Readable } from "node:stream";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { bodyBytes } from "./finish-bodies.ts";
import { createHttpServer } from "./http-server.ts";

/** Reads the first bytes of a body, or nothing of it, and answers. */
async function server() {
  const app = createHttpServer({ logger: pino({ level: "silent" }) });
  app.addContentTypeParser("application/octet-stream", async (_request: unknown, payload: Readable) => payload);
  app.put("/early", async (request, reply) => {
    for await (const chunk of bodyBytes(request.body as Readable)) if (chunk.byteLength > 0) break;
    return reply.code(400).send({ read: "a part" });
  });
  app.put("/unread", async (_request, reply) => reply.code(507).send({ read: "nothing" }));
  app.get("/next", async () => ({}));
  const address = await app.listen({ host: "127.0.0.1", port: 0 });
  onTestFinished(() => app.close());
  return { port: Number(new URL(address).port) };
}

function ask(agent: Agent, port: number, path: string, body?: Readable | Buffer, isChunked = false) {
  return new Promise<{ status: number | undefined; text: string; connection: string | undefined }>(
    (resolve, reject) => {
      const length = body instanceof Buffer && !isChunked ? { "content-length": body.byteLength } : {};
      const headers = { "content-type": "application/octet-stream", ...length };
      const call = send({ agent, port, path, method: body ? "PUT" : "GET", ...(body && { headers }) }, (answer) => {
        let text = "";
        answer.on("data", (data) => {
          text += data;
        });
        answer.on("end", () => resolve({ status: answer.statusCode, text, connection: answer.headers.connection }));
      });
      call.setTimeout(4000, () => call.destroy(new Error("no answer for 4 s")));
      call.on("error", reject);
      if (body instanceof Readable) body.pipe(call);
      else call.end(body);
    },
  );
}

const bytes = (megabytes: number) => Buffer.alloc(megabytes * 1024 * 1024, "x");

test.each([
  ["/early", 0.3, false],
  ["/early", 2, false],
  ["/early", 2, true],
  ["/unread", 2, false],
  ["/unread", 2, true],
] as const)(
  "%s: after an answer that did not need %d MiB (chunked: %s), the connection carries the next request",
  async (path, megabytes, isChunked) => {
    const { port } = await server();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const status = path === "/early" ? 400 : 507;
    for (let round = 0; round < 3; round++) {
      expect(await ask(agent, port, path, bytes(megabytes), isChunked)).toMatchObject({
        status,
        connection: "keep-alive",
      });
      expect(await ask(agent, port, "/next")).toMatchObject({ status: 200 });
    }
    expect(Object.values(agent.freeSockets).flat()).toHaveLength(1);
  },
);

test("a body that is too long to be dropped closes the connection, and the answer says so", async () => {
  const { port } = await server();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const endless = Readable.from(
    (async function* () {
      while (true) yield Buffer.alloc(65_536);
    })(),
  );
  onTestFinished(() => void endless.destroy());
  const answer = await ask(agent, port, "/early", endless);
  expect(answer).toMatchObject({ connection: "close", text: expect.stringContaining("read") });
  expect(await ask(agent, port, "/next")).toMatchObject({ status: 200 });
});

test("a body that stops arriving is not waited for: the answer comes, and the connection is closed", {
  tags: "long",
}, async () => {
  const { port } = await server();
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.write(
    "PUT /early HTTP/1.1\r\nhost: x\r\ncontent-type: application/octet-stream\r\ncontent-length: 1000\r\n\r\nhalf",
  );
  let text = "";
  socket.on("data", (data) => {
    text += data;
  });
  await new Promise((resolve) => socket.once("close", resolve));
  expect(text).toMatch(/^HTTP\/1\.1 400 [\s\S]*connection: close/i);
});

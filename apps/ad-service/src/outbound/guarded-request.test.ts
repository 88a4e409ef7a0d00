import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import tls from "node:tls";
import { gzipSync } from "node:zlib";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { type GuardedRequestSettings, type GuardedRequests, openGuardedRequests } from "./guarded-request.ts";
import type { OutgoingRequest } from "./outgoing-request.ts";
import { expiredCertificate, testCertificate, testKey } from "./test-certificates.ts";

/** What an endpoint does with a connection: raw bytes, since HTTP servers refuse to misbehave. */
type Behaviour = (socket: Socket) => void;

const opened: { close(): unknown }[] = [];
const sockets = new Set<Socket>();

async function listen(server: Server): Promise<number> {
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  opened.push(server);
  const address = server.address();
  return typeof address === "object" && address ? address.port : 0;
}

const endpoint = (behaviour: Behaviour) => listen(createServer(behaviour));
/** Answers once the request's headers have come. */
const answering = (...parts: (string | Buffer)[]) =>
  endpoint((socket) => {
    socket.once("data", () => {
      for (const part of parts) socket.write(part);
    });
  });

function door(settings: Partial<GuardedRequestSettings> = {}): GuardedRequests {
  const requests = openGuardedRequests({
    isPlainHttpAllowed: true,
    allowedNetworks: { webhook: ["127.0.0.0/8"] },
    lookup: async () => ["127.0.0.1"],
    ...settings,
  });
  opened.push(requests);
  return requests;
}

const send = (port: number, request: Partial<OutgoingRequest> = {}, requests = door()) =>
  requests.guardedRequest({
    ...{ purpose: "webhook", method: "POST", body: "{}", headers: { "content-type": "application/json" } },
    ...{ url: `http://hook.test:${port}/in?a=1`, connectTimeoutMs: 400, totalTimeoutMs: 800 },
    ...request,
  });

const headers = "HTTP/1.1 200 OK\r\n";

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  await Promise.all(opened.splice(0).map((each) => each.close()));
});

describe("what is asked", () => {
  test("the request goes to the checked address, with the name as Host, and asks for no encoding", async () => {
    const requests: string[] = [];
    const port = await endpoint((socket) => {
      socket.on("data", (data) => {
        requests.push(data.toString());
        socket.write(`${headers}content-length: 2\r\n\r\nok`);
      });
    });
    const result = await send(port);
    expect(result).toMatchObject({ outcome: "answered", status: 200, text: "ok", address: "127.0.0.1" });
    expect(requests[0]).toMatch(/^POST \/in\?a=1 HTTP\/1\.1\r\n/);
    expect(requests[0]).toContain(`host: hook.test:${port}\r\n`);
    expect(requests[0]).toContain("accept-encoding: identity\r\n");
    expect(requests[0]).toMatch(/\r\n\r\n\{\}$/);
  });

  test("a connection is kept and used again", async () => {
    let connections = 0;
    const port = await endpoint((socket) => {
      connections += 1;
      socket.on("data", () => socket.write(`${headers}content-length: 0\r\n\r\n`));
    });
    const requests = door();
    for (let index = 0; index < 20; index++) await send(port, {}, requests);
    // One may be opened while the other's last answer is still being put away.
    expect(connections).toBeLessThanOrEqual(2);
  });

  test("our own wish to stop is no failure of the other side", async () => {
    const port = await endpoint(() => {});
    const controller = new AbortController();
    const sent = send(port, { signal: controller.signal });
    setTimeout(() => controller.abort(new Error("stopping")), 50);
    await expect(sent).rejects.toThrow("stopping");
  });
});

describe("where nothing is sent", () => {
  const expectUntouched = async (url: (port: number) => string, settings: Partial<GuardedRequestSettings>) => {
    let connections = 0;
    const port = await endpoint(() => {
      connections += 1;
    });
    const result = await send(port, { url: url(port) }, door(settings));
    expect(result).toMatchObject({ outcome: "failed", errorClass: "blocked-address", wasSent: false });
    expect(connections).toBe(0);
  };

  test.each([
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "0.0.0.0",
  ])("a literal of this machine: %s", (host) =>
    expectUntouched((port) => `http://${host}:${port}/`, { allowedNetworks: { webhook: [] } }),
  );

  test.each([
    ["to this machine", ["127.0.0.1"]],
    ["to a private network", ["10.0.0.1"]],
    ["to the metadata service", ["169.254.169.254"]],
    ["to a public and a private address", ["8.8.8.8", "127.0.0.1"]],
    ["to a private and a public address", ["::1", "2606:4700::1111"]],
  ])("a name that resolves %s", (_what, addresses) =>
    expectUntouched((port) => `http://hook.test:${port}/`, {
      allowedNetworks: { webhook: [] },
      lookup: async () => addresses,
    }),
  );

  test("localhost, with and without the dot, by the system's own resolver", async () => {
    for (const host of ["localhost", "localhost."]) {
      const requests = openGuardedRequests({ isPlainHttpAllowed: true, allowedNetworks: { webhook: [] } });
      opened.push(requests);
      const port = await endpoint(() => {});
      const result = await send(port, { url: `http://${host}:${port}/` }, requests);
      // Not every system's resolver knows the form with the dot.
      expect(result).toMatchObject({ outcome: "failed", errorClass: expect.stringMatching(/^(blocked-address|dns)$/) });
    }
  });

  test("credentials in the address", () => expectUntouched((port) => `http://user:pass@127.0.0.1:${port}/`, {}));
  test("plain HTTP in production", () =>
    expectUntouched((port) => `http://127.0.0.1:${port}/`, { isPlainHttpAllowed: false }));
  test.each(["ftp://hook.test/", "file:///etc/passwd", "not an address", ""])("no address of the web: %j", (url) =>
    expectUntouched(() => url, {}),
  );

  test("a name that is public when checked and private later reaches the checked address only", async () => {
    let look = 0;
    const port = await answering(`${headers}content-length: 0\r\n\r\n`);
    const requests = door({ lookup: async () => [look++ === 0 ? "127.0.0.1" : "127.0.0.2"] });
    expect(await send(port, {}, requests)).toMatchObject({ outcome: "answered", address: "127.0.0.1" });
    expect(look).toBe(1);
  });

  test("an unknown name is a DNS failure, and a silent resolver runs into the shorter clock", async () => {
    const fails = door({ lookup: async () => Promise.reject(new Error("ENOTFOUND")) });
    expect(await send(1, {}, fails)).toMatchObject({ errorClass: "dns", wasSent: false });
    expect(await send(1, {}, door({ lookup: async () => [] }))).toMatchObject({ errorClass: "dns" });
    const silent = door({ lookup: () => new Promise(() => {}) });
    expect(await send(1, {}, silent)).toMatchObject({ errorClass: "timeout-connect", wasSent: false });
  });
});

describe("faults of connections", () => {
  test("refused", async () => {
    const server = createServer();
    const port = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    opened.splice(0);
    expect(await send(port)).toMatchObject({ errorClass: "refused", wasSent: false });
  });

  test("accepted, then silence", async () => {
    const result = await send(await endpoint(() => {}));
    expect(result).toMatchObject({ errorClass: "timeout-total", wasSent: true });
    expect(result.timings.totalMs).toBeGreaterThanOrEqual(790);
    expect(result.timings.totalMs).toBeLessThan(1500);
  });

  test("reset after the request", async () => {
    const port = await endpoint((socket) => socket.once("data", () => socket.resetAndDestroy()));
    expect(await send(port)).toMatchObject({ errorClass: "reset", wasSent: true });
  });

  test("closed without an answer", async () => {
    const port = await endpoint((socket) => socket.once("data", () => socket.end()));
    expect(await send(port)).toMatchObject({ errorClass: "reset", wasSent: true });
  });
});

describe("TLS", () => {
  beforeAll(() => tls.setDefaultCACertificates([...tls.getCACertificates(), testCertificate]));

  const secure = async (cert: string, names: (string | undefined)[] = []) => {
    const server = tls.createServer({ key: testKey, cert }, (socket) => {
      names.push(socket.servername || undefined);
      socket.on("error", () => {});
      socket.once("data", () => socket.end(`${headers}content-length: 0\r\n\r\n`));
    });
    server.on("tlsClientError", () => {});
    return listen(server);
  };
  const https = (port: number, host = "hook.test") => send(port, { url: `https://${host}:${port}/` });

  test("the name is sent as SNI and checked in the certificate, the address is the checked one", async () => {
    const names: string[] = [];
    const port = await secure(testCertificate, names);
    expect(await https(port)).toMatchObject({ outcome: "answered", status: 200, address: "127.0.0.1" });
    expect(names).toEqual(["hook.test"]);
  });

  test("a certificate for another name", async () => {
    expect(await https(await secure(testCertificate), "other.test")).toMatchObject({
      errorClass: "tls",
      wasSent: false,
    });
    expect(await https(await secure(testCertificate), "127.0.0.1")).toMatchObject({
      errorClass: "tls",
      wasSent: false,
    });
  });

  test("an expired certificate", async () => {
    expect(await https(await secure(expiredCertificate))).toMatchObject({ errorClass: "tls", wasSent: false });
  });

  test("plain HTTP on the TLS port", async () => {
    expect(await https(await answering(`${headers}\r\n`))).toMatchObject({ errorClass: "tls", wasSent: false });
  });

  test("a stalled handshake", async () => {
    expect(await https(await endpoint(() => {}))).toMatchObject({ errorClass: "timeout-connect", wasSent: false });
  });
});

describe("headers", () => {
  test.each([
    ["a banner of SMTP", "220 mail.test ESMTP\r\n", "protocol"],
    ["length with chunks", `${headers}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`, "protocol"],
    ["two lengths", `${headers}content-length: 5\r\ncontent-length: 6\r\n\r\nhello!`, "protocol"],
    [
      "another protocol",
      "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n",
      "protocol",
    ],
    ["another protocol, unnamed", "HTTP/1.1 101 Switching Protocols\r\n\r\n", "protocol"],
    ["a status of 700", "HTTP/1.1 700 What\r\ncontent-length: 0\r\n\r\n", "protocol"],
    ["100 kB", `${headers}x: ${"a".repeat(100_000)}\r\n\r\n`, "too-large"],
  ])("%s", async (_what, bytes, errorClass) => {
    expect(await send(await answering(bytes))).toMatchObject({ outcome: "failed", errorClass, wasSent: true });
  });

  test("trickled headers end with the total time", async () => {
    const port = await endpoint((socket) => {
      const timer = setInterval(() => socket.write("x"), 100);
      socket.once("data", () => socket.write(`${headers}x-slow: `));
      socket.on("close", () => clearInterval(timer));
    });
    expect(await send(port)).toMatchObject({ errorClass: "timeout-total" });
  });

  test("endless interim answers end with the total time", async () => {
    const port = await endpoint((socket) => {
      const timer = setInterval(() => socket.write("HTTP/1.1 102 Processing\r\n\r\n"), 20);
      socket.on("close", () => clearInterval(timer));
    });
    expect(await send(port)).toMatchObject({ errorClass: "timeout-total" });
  });

  test("an early hint before the answer is no answer", async () => {
    const port = await answering(
      "HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n",
      `${headers}content-length: 0\r\n\r\n`,
    );
    expect(await send(port)).toMatchObject({ outcome: "answered", status: 200 });
  });

  test.each([301, 302, 303, 304, 307, 308])("a redirect is a failure: %i", async (status) => {
    const port = await answering(
      `HTTP/1.1 ${status} Go\r\nlocation: http://169.254.169.254/\r\ncontent-length: 0\r\n\r\n`,
    );
    expect(await send(port)).toMatchObject({ outcome: "failed", errorClass: "redirect", status, wasSent: true });
  });

  test("Retry-After is handed on", async () => {
    const port = await answering("HTTP/1.1 503 Busy\r\nretry-after: 7\r\ncontent-length: 0\r\n\r\n");
    expect(await send(port)).toMatchObject({ outcome: "answered", status: 503, retryAfter: "7" });
  });
});

describe("bodies never change what the headers decided", () => {
  test.each([
    ["shorter than its length", `${headers}content-length: 100\r\n\r\nhalf`, "half"],
    ["a bad chunk", `${headers}transfer-encoding: chunked\r\n\r\n4\r\ngood\r\nzz\r\n`, "good"],
  ])("%s", async (_what, bytes, text) => {
    const port = await endpoint((socket) => socket.once("data", () => socket.end(bytes)));
    expect(await send(port)).toMatchObject({ outcome: "answered", status: 200, text });
  });

  test("a trickled body ends with the total time", async () => {
    const port = await endpoint((socket) => {
      const timer = setInterval(() => socket.write("x"), 100);
      socket.once("data", () => socket.write(`${headers}content-length: 1000\r\n\r\n`));
      socket.on("close", () => clearInterval(timer));
    });
    const result = await send(port);
    expect(result).toMatchObject({ outcome: "answered", status: 200 });
    expect(result.timings.totalMs).toBeLessThan(1500);
  });

  test("an endless body is not read beyond 16 KiB, and 4 KiB are kept", async () => {
    let written = 0;
    const port = await endpoint((socket) => {
      socket.once("data", () => {
        socket.write(`${headers}transfer-encoding: chunked\r\n\r\n`);
        const pump = () => {
          while (!socket.destroyed && written < 50_000_000) {
            written += 16_384;
            if (!socket.write(`4000\r\n${"é".repeat(8192)}\r\n`)) return void socket.once("drain", pump);
          }
        };
        pump();
      });
    });
    const result = await send(port);
    if (result.outcome !== "answered") throw new Error(result.errorClass);
    expect(Buffer.byteLength(result.text)).toBe(4096);
    expect(result.text).toMatch(/^é+$/);
    expect(written).toBeLessThan(10_000_000);
  });

  test("what is compressed is not inflated; NUL and broken UTF-8 are taken out", async () => {
    const bomb = gzipSync(Buffer.alloc(10_000_000));
    const zipped = await answering(`${headers}content-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`, bomb);
    expect(await send(zipped)).toMatchObject({ outcome: "answered", status: 200 });
    const broken = Buffer.from([0x61, 0, 0xff, 0xc3, 0x28, 0, 0x62]);
    const port = await answering(`${headers}content-length: ${broken.length}\r\n\r\n`, broken);
    expect(await send(port)).toMatchObject({ text: "a\ufffd\ufffd(b" });
  });
});

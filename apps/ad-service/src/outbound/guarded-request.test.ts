import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import tls from "node:tls";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import {
  always,
  answering,
  type Behaviour,
  ending,
  silence,
  startMisbehavingServer,
} from "../../test/faults/misbehaving-server.ts";
import { testCertificate, testKey } from "../../test/faults/test-certificates.ts";
import { type GuardedRequestSettings, openGuardedRequests } from "./guarded-request.ts";
import type { OutgoingRequest } from "./outgoing-request.ts";

const OK = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
/** Much shorter than any real timeout, and long enough for a busy machine. */
const soon = { timeout: 4000 };
const certificate = { key: testKey, cert: testCertificate };

beforeAll(() => tls.setDefaultCACertificates([...tls.getCACertificates(), testCertificate]));

async function server(behaviour: Behaviour, options?: Parameters<typeof startMisbehavingServer>[1]) {
  const started = await startMisbehavingServer(behaviour, options);
  onTestFinished(() => started.close());
  return started;
}

/** One sender for all requests of a test. */
function sender(settings: Partial<GuardedRequestSettings> = {}) {
  const requests = openGuardedRequests({
    isPlainHttpAllowed: true,
    allowedNetworks: { webhook: ["127.0.0.1"] },
    lookup: async () => ["127.0.0.1"],
    ...settings,
  });
  onTestFinished(() => requests.close());
  return (url: string, request: Partial<OutgoingRequest> = {}) =>
    requests.guardedRequest({
      purpose: "webhook",
      method: "POST",
      body: "{}",
      headers: { "content-type": "application/json" },
      url,
      ...request,
    });
}

describe("a request", () => {
  test("goes to the checked address, with the name as Host, and requests no encoding", async () => {
    const requests: string[] = [];
    const { port } = await server((socket) => {
      socket.on("data", (data) => {
        requests.push(data.toString());
        socket.write(OK);
      });
    });
    const result = await sender()(`http://hook.test:${port}/in?a=1#never-sent`);
    expect(result).toMatchObject({ outcome: "answered", status: 200, text: "ok", address: "127.0.0.1" });
    expect(requests[0]).toMatch(/^POST \/in\?a=1 HTTP\/1\.1\r\n/);
    expect(requests[0]).toContain(`host: hook.test:${port}\r\n`);
    expect(requests[0]).toContain("accept-encoding: identity\r\n");
    expect(requests[0]).toMatch(/\r\n\r\n\{\}$/);
  });

  test("sends the name as SNI without its final dot, and does not offer HTTP/2", async () => {
    const seen: unknown[] = [];
    const { port } = await server(
      (socket) => {
        if (socket instanceof tls.TLSSocket) seen.push([socket.servername, socket.alpnProtocol]);
        answering(OK)(socket);
      },
      { certificate: { ...certificate, ALPNProtocols: ["h2", "http/1.1"] } },
    );
    const send = sender();
    for (const host of ["hook.test", "hook.test."]) {
      expect(await send(`https://${host}:${port}/`)).toMatchObject({ outcome: "answered", status: 200 });
    }
    expect(seen).toEqual(Array(2).fill(["hook.test", "http/1.1"]));
  });

  test.each(["TLSv1.2", "TLSv1.3"] as const)(
    "refuses a refused certificate again when %s could resume a session",
    async (version) => {
      const versions = { minVersion: version, maxVersion: version };
      const { port, connections } = await server(always(OK), { certificate: { ...certificate, ...versions } });
      const send = sender();
      for (let attempt = 0; attempt < 3; attempt++) {
        expect(await send(`https://other.test:${port}/`)).toMatchObject({ errorClass: "tls", wasSent: false });
      }
      expect(connections()).toBe(3);
    },
  );

  test("with a header that cannot be sent is an internal error, not the endpoint's", async () => {
    const { port, connections } = await server(answering(OK));
    const sent = sender()(`http://hook.test:${port}/`, { headers: { "x-bad": "a\r\nb: c" } });
    await expect(sent).rejects.toThrow("an outgoing request could not be made");
    expect(connections()).toBe(0);
  });
});

describe("a name with several addresses", () => {
  const networks = { webhook: ["127.0.0.0/8"] };
  const at = (...addresses: string[]) => sender({ allowedNetworks: networks, lookup: async () => addresses });

  test("is reached at the next address where nothing listens at one, and from then on there at once", async () => {
    const { port, connections } = await server(always(OK));
    const send = at("127.0.0.3", "127.0.0.2", "127.0.0.1");
    for (let time = 0; time < 2; time++)
      expect(await send(`http://hook.test:${port}/`)).toMatchObject({ status: 200, address: "127.0.0.1" });
    expect(connections()).toBe(1);
  });

  test("is reached at the next one after a kept connection broke at one that then refuses new ones", async () => {
    let requests = 0;
    const answerOnce = (socket: Socket) => (++requests === 1 ? socket.write(OK) : setTimeout(first.close, 50));
    const first = await server((socket) => socket.on("data", () => answerOnce(socket)), { certificate });
    const { port } = first;
    const SNICallback: tls.TlsOptions["SNICallback"] = (_name, proceed) => void setTimeout(proceed, 100, null);
    const next = await server(always(OK), { address: "127.0.0.2", port, certificate: { ...certificate, SNICallback } });
    const send = at("127.0.0.1", "127.0.0.2");
    const url = `https://hook.test:${port}/`;
    expect(await send(url)).toMatchObject({ status: 200, address: "127.0.0.1" });
    // The time to connect is over when the kept connection breaks: the whole exchange has more.
    expect(await send(url, { connectTimeoutMs: 20 })).toMatchObject({ status: 200, address: "127.0.0.2" });
    expect(await send(url)).toMatchObject({ status: 200, address: "127.0.0.2" });
    expect([requests, next.connections()]).toEqual([2, 1]);
  });

  test("is sent a request once more at most, also where kept connections break at two of its addresses", async () => {
    let requests = 0;
    const breaking: Behaviour = (socket) => socket.on("data", () => (++requests <= 2 ? socket.write(OK) : end(socket)));
    const first = await server(breaking);
    const { port } = first;
    const next = await server(breaking, { address: "127.0.0.2", port });
    const end = (socket: Socket) => (socket.localAddress === "127.0.0.1" ? first.close() : socket.end());
    let addresses = ["127.0.0.2"];
    const send = sender({ allowedNetworks: networks, lookup: async () => addresses, lookupKeptMs: 0 });
    await send(`http://hook.test:${port}/`);
    addresses = ["127.0.0.1"];
    await send(`http://hook.test:${port}/`);
    addresses = ["127.0.0.1", "127.0.0.2"];
    expect(await send(`http://hook.test:${port}/`)).toMatchObject({ wasSent: true, address: "127.0.0.2" });
    expect(requests).toBe(4);
    expect(next.connections()).toBe(2);
  });

  test("is reached within its limit of time where one address is silent", async () => {
    const { port } = await server(always(OK), { certificate });
    const silent = await server(silence, { address: "127.0.0.2", port });
    const send = at("127.0.0.2", "127.0.0.1");
    const request = { connectTimeoutMs: 2000 };
    expect(await send(`https://hook.test:${port}/`, request)).toMatchObject({ status: 200, address: "127.0.0.1" });
    expect(await send(`https://hook.test:${port}/`, request)).toMatchObject({ status: 200, address: "127.0.0.1" });
    expect(silent.connections()).toBe(1);
  });

  test("is reached where it is localhost, and the receiver listens at the address of IPv4 alone", async () => {
    const { port } = await server(answering(OK));
    const send = sender({
      allowedNetworks: { webhook: ["127.0.0.0/8", "::1"] },
      lookup: async () => ["::1", "127.0.0.1"],
    });
    expect(await send(`http://localhost:${port}/`)).toMatchObject({ status: 200, address: "127.0.0.1" });
  });

  test("is tried by both families before the second address of one", async () => {
    const { port } = await server(answering(OK));
    const send = sender({
      allowedNetworks: { webhook: ["127.0.0.0/8", "fd00::/8"] },
      lookup: async () => ["fd00::1", "fd00::2", "fd00::3", "fd00::4", "fd00::5", "127.0.0.1"],
    });
    expect(await send(`http://hook.test:${port}/`)).toMatchObject({ status: 200, address: "127.0.0.1" });
  });

  test("is sent nothing at any if one is closed, or again once a byte of the request was sent", async () => {
    const { port, connections } = await server(ending(""));
    const other = await server(answering(OK), { address: "127.0.0.2", port });
    expect(await at("127.0.0.2", "10.1.2.3")(`http://hook.test:${port}/`)).toMatchObject({
      errorClass: "blocked-address",
    });
    expect(await at("127.0.0.1", "127.0.0.2")(`http://hook.test:${port}/`)).toMatchObject({
      outcome: "failed",
      wasSent: true,
      address: "127.0.0.1",
    });
    expect([connections(), other.connections()]).toEqual([1, 0]);
  });

  test("fails with the last of its addresses if none answers", async () => {
    const { port } = await server(answering(OK));
    expect(await at("127.0.0.3", "127.0.0.2")(`http://hook.test:${port}/`)).toMatchObject({
      errorClass: "refused",
      wasSent: false,
      address: "127.0.0.2",
    });
  });
});

describe("in production, plain http", () => {
  const production = () =>
    sender({ isPlainHttpAllowed: false, allowedNetworks: { vast: ["127.0.0.1"], webhook: ["127.0.0.1"] } });

  test("of a VAST wrapper or tracker is requested by https, as browsers do for the pictures of a page", async () => {
    const { port } = await server(always(OK), { certificate });
    const request = { purpose: "vast", method: "GET" } as const;
    expect(await production()(`http://hook.test:${port}/seen`, request)).toMatchObject({ status: 200 });
    const { port: plain } = await server(always(OK));
    expect(await production()(`HTTP://hook.test:${plain}/seen`, request)).toMatchObject({
      errorClass: "tls",
      wasSent: false,
    });
  });

  test.each(["webhook", "video"] as const)("of a %s, whose owner can correct it, is refused", async (purpose) => {
    const { port, connections } = await server(always(OK), { certificate });
    expect(await production()(`http://hook.test:${port}/`, { purpose })).toMatchObject({
      errorClass: "blocked-address",
    });
    expect(connections()).toBe(0);
  });
});

describe("the head of an answer", () => {
  const hints = (bytes: number) => `HTTP/1.1 103 Early Hints\r\nlink: ${"x".repeat(bytes)}\r\n\r\n`;

  test.each([
    ["a reason phrase of 100 kB", `HTTP/1.1 200 ${"O".repeat(100_000)}\r\ncontent-length: 0\r\n\r\n`],
    ["a reason phrase of 17 kB that comes with the whole answer", `HTTP/1.1 200 ${"O".repeat(17_000)}\r\n\r\n`],
    ["one header of 17 kB", `HTTP/1.1 200 OK\r\nx: ${"y".repeat(17_000)}\r\n\r\n`],
    ["many headers", `HTTP/1.1 200 OK\r\n${"x: 1234567890\r\n".repeat(1200)}\r\n`],
    ["ninety interim answers of 14 kB", hints(14_000).repeat(90) + OK],
    ["two interim answers of 9 kB", hints(9000).repeat(2) + OK],
    ["empty lines before it", "\r\n".repeat(10_000) + OK],
  ])("is bounded as its body is: %s is no success", async (_name, answer) => {
    const { port } = await server(answering(answer));
    expect(await sender()(`http://hook.test:${port}/`)).toMatchObject({ outcome: "failed", errorClass: "too-large" });
  });

  test("of less than 16 KiB is read, with interim answers, and whatever the body's length is", async () => {
    const head = `HTTP/1.1 200 ${"O".repeat(6000)}\r\ncontent-length: 40000\r\nx: ${"y".repeat(3000)}\r\n\r\n`;
    const { port } = await server(answering(hints(5000) + head + "b".repeat(40_000)));
    expect(await sender()(`http://hook.test:${port}/`)).toMatchObject({ outcome: "answered", status: 200 });
  });
});

describe("an answer that comes before its request was sent", () => {
  test.each(["http", "https"])("on a new connection is none: %s", async (scheme) => {
    const isSecure = scheme === "https";
    const { port } = await server((socket) => void socket.write(OK), isSecure ? { certificate } : undefined);
    expect(await sender()(`${scheme}://hook.test:${port}/`)).toMatchObject({
      outcome: "failed",
      errorClass: "protocol",
      wasSent: false,
    });
  });

  test.each(["http", "https"])("on a new connection is none, however busy this process is: %s", async (scheme) => {
    const { port } = await server((socket) => void socket.write(OK), scheme === "https" ? { certificate } : undefined);
    const block = () => {
      const until = performance.now() + 5;
      while (performance.now() < until);
    };
    const busy = setInterval(block, 1);
    try {
      const failed = { outcome: "failed", errorClass: "protocol", wasSent: false };
      expect(await sender()(`${scheme}://hook.test:${port}/`)).toMatchObject(failed);
    } finally {
      clearInterval(busy);
    }
  });

  test("on a kept connection is none: the next request is answered by a new connection", async () => {
    let requests = 0;
    const { port, connections } = await server((socket) => {
      socket.on("data", () => {
        requests++;
        socket.write(OK);
        setTimeout(() => socket.write(OK), 20);
      });
    });
    const send = sender();
    await send(`http://hook.test:${port}/`);
    await sleep(100);
    expect(await send(`http://hook.test:${port}/`)).toMatchObject({ outcome: "answered", status: 200 });
    expect([requests, connections()]).toEqual([2, 2]);
  });
});

describe("connections", () => {
  test.each(["TLSv1.2", "TLSv1.3"] as const)("a new one resumes the earlier %s session", async (version) => {
    const resumed: boolean[] = [];
    const { port } = await server(
      (socket) => {
        if (socket instanceof tls.TLSSocket) resumed.push(socket.isSessionReused());
        ending(OK)(socket);
      },
      { certificate: { ...certificate, minVersion: version, maxVersion: version } },
    );
    const send = sender();
    for (let index = 0; index < 2; index++) await send(`https://hook.test:${port}/`);
    expect(resumed).toEqual([false, true]);
  });

  test("one is kept and reused", async () => {
    const { port, connections } = await server(always(OK));
    const send = sender();
    for (let index = 0; index < 20; index++) await send(`http://hook.test:${port}/`);
    expect(connections()).toBe(1);
  });

  test("as many are open as there are concurrent requests, and all of them are reused", async () => {
    const { port, connections } = await server(always(OK));
    const send = sender();
    for (let round = 0; round < 3; round++) {
      const results = await Promise.all(Array.from({ length: 30 }, () => send(`http://hook.test:${port}/`)));
      expect(results.every(({ status }) => status === 200)).toBe(true);
    }
    expect(connections()).toBe(30);
  });

  test.each(["http", "https"])("none stays open after an exchange times out: %s", async (scheme) => {
    const { port, connections, open } = await server(silence);
    const timeouts = { connectTimeoutMs: 500, totalTimeoutMs: 700 };
    expect(await sender()(`${scheme}://hook.test:${port}/`, timeouts)).toMatchObject({ outcome: "failed" });
    expect(connections()).toBe(1);
    await expect.poll(open, soon).toBe(0);
  });

  test("closing ends idle connections and requests in progress", async () => {
    const { port, open } = await server(answering(OK));
    const requests = openGuardedRequests({ isPlainHttpAllowed: true, allowedNetworks: { webhook: ["127.0.0.1"] } });
    const request = { url: `http://127.0.0.1:${port}/`, method: "POST", headers: {}, purpose: "webhook" } as const;
    await Promise.all([requests.guardedRequest(request), requests.guardedRequest(request)]);
    const silent = requests.guardedRequest(request);
    const ended = expect(silent).rejects.toThrow("could not be made");
    await expect.poll(open, soon).toBe(2);
    await requests.close();
    await ended;
    await expect.poll(open, soon).toBe(0);
  });
});

describe("an abort by the caller is not reported as a failure of the other side", () => {
  test("while waiting for the answer, for all requests with this signal and no others", async () => {
    const { port, connections, open } = await server(silence);
    const send = sender();
    const controller = new AbortController();
    const stopped = Array.from({ length: 20 }, () => send(`http://hook.test:${port}/`, { signal: controller.signal }));
    const others = new AbortController();
    const other = send(`http://hook.test:${port}/`, { signal: others.signal });
    const all = Promise.allSettled(stopped);
    await expect.poll(connections, soon).toBe(21);
    controller.abort(new Error("stopping"));
    for (const result of await all) expect(result).toMatchObject({ reason: new Error("stopping") });
    await expect.poll(open, soon).toBe(1);
    others.abort(new Error("stopping, too"));
    await expect(other).rejects.toThrow("stopping, too");
  });

  test("during the look-up of the name, and before the start", async () => {
    const controller = new AbortController();
    const send = sender({ lookup: () => new Promise(() => {}) });
    const sent = send("http://hook.test/", { signal: controller.signal });
    controller.abort(new Error("stopping"));
    await expect(sent).rejects.toThrow("stopping");
    await expect(send("http://hook.test/", { signal: controller.signal })).rejects.toThrow("stopping");
  });
});

describe("phases", () => {
  test("a new connection has DNS, TCP and TLS; a kept one has none of them", async () => {
    const { port } = await server(always(OK), { certificate });
    const lookup = async () => {
      await sleep(20);
      return ["127.0.0.1"];
    };
    const send = sender({ lookup });
    const { timings: first } = await send(`https://hook.test:${port}/`);
    expect(first).toMatchObject({ dnsMs: expect.any(Number), tcpMs: expect.any(Number), tlsMs: expect.any(Number) });
    const { dnsMs, tcpMs, tlsMs, firstByteMs, totalMs } = first;
    expect(dnsMs).toBeGreaterThan(15);
    expect((dnsMs ?? 0) + (tcpMs ?? 0) + (tlsMs ?? 0)).toBeLessThanOrEqual(firstByteMs ?? 0);
    expect(firstByteMs).toBeLessThanOrEqual(totalMs);
    const { timings: second } = await send(`https://hook.test:${port}/`);
    expect(second).toMatchObject({ dnsMs: null, tcpMs: null, tlsMs: null, firstByteMs: expect.any(Number) });
  });

  test("no DNS for a literal address, no TLS for plain http", async () => {
    const { port } = await server(answering(OK));
    const { timings } = await sender()(`http://127.0.0.1:${port}/`);
    expect(timings).toMatchObject({ dnsMs: null, tcpMs: expect.any(Number), tlsMs: null });
  });

  test("an aborted phase counts until the abort, and the phases after it are missing", async () => {
    const { port } = await server(silence);
    const { timings } = await sender()(`https://hook.test:${port}/`, { connectTimeoutMs: 500 });
    expect(timings).toMatchObject({ dnsMs: expect.any(Number), tcpMs: expect.any(Number), firstByteMs: null });
    expect(timings.tlsMs).toBeGreaterThan(50);
    expect(timings.totalMs).toBeGreaterThanOrEqual(500);
  });
});

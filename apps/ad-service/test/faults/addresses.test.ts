import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GuardedRequestSettings, openGuardedRequests } from "../../src/outbound/guarded-request.ts";
import { closedAddresses, spellings } from "./closed-addresses.ts";
import { always, type MisbehavingServer, startMisbehavingServer } from "./misbehaving-server.ts";

/** On both loopback addresses, at one port, to count every connection that reaches this machine. */
const listeners: MisbehavingServer[] = [];
let port = 0;

beforeAll(async () => {
  const answer = always("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
  const first = await startMisbehavingServer(answer);
  port = first.port;
  listeners.push(first);
  // Without IPv6, nothing can be reached by it either.
  await startMisbehavingServer(answer, { address: "::1", port }).then(
    (second) => listeners.push(second),
    () => {},
  );
});
afterAll(() => listeners.forEach((listener) => void listener.close()));

const connections = () => listeners.reduce((sum, listener) => sum + listener.connections(), 0);

/** Nothing is allowed. Names resolve as the test specifies, else with the system's resolver. */
async function send(url: string, settings: Partial<GuardedRequestSettings> = {}) {
  const requests = openGuardedRequests({
    isPlainHttpAllowed: true,
    allowedNetworks: { webhook: [] },
    ...settings,
  });
  try {
    return await requests.guardedRequest({ url, method: "POST", body: "{}", headers: {}, purpose: "webhook" });
  } finally {
    await requests.close();
  }
}

const blocked = { outcome: "failed", errorClass: "blocked-address", wasSent: false };
const all = [...closedAddresses.v4, ...closedAddresses.v6];

describe("a closed address is never connected to", () => {
  afterAll(() => expect(connections()).toBe(0));

  test.each(closedAddresses.v4)("$address ($range), in every spelling", async ({ address }) => {
    for (const spelling of spellings(address)) {
      const result = await send(`http://${spelling}:${port}/`);
      expect(result, spelling).toMatchObject({ ...blocked, address });
    }
  });

  test.each(closedAddresses.v6)("[$address] ($range)", async ({ address }) => {
    expect(await send(`http://[${address}]:${port}/`)).toMatchObject(blocked);
  });

  test.each(all)("a name that resolves to $address ($range), alone or with a public one", async ({ address }) => {
    for (const addresses of [[address], ["8.8.8.8", address], [address, "2606:4700::1111"]]) {
      const result = await send(`http://hook.test:${port}/`, { lookup: async () => addresses });
      expect(result).toMatchObject({ ...blocked, address });
    }
  });

  test("a name that resolves to an invalid address", async () => {
    for (const address of ["fe80::1%eth0", "", "localhost", "127.0.0.1:80"]) {
      expect(await send(`http://hook.test:${port}/`, { lookup: async () => [address] })).toMatchObject(blocked);
    }
  });

  // Not every system's resolver knows all of them.
  test.each(["localhost", "localhost.", "LOCALHOST", "ip6-localhost", "any.localhost"])("%s", async (host) => {
    const errorClass = expect.stringMatching(/^(blocked-address|dns)$/);
    expect(await send(`http://${host}:${port}/`)).toMatchObject({ ...blocked, errorClass });
  });

  test.each([
    ["zone ids", "http://[fe80::1%25eth0]/"],
    ["numbers that are not an address", "http://256.1.1.1/"],
    ["too many numbers", "http://1.2.3.4.5/"],
    ["another scheme", "ftp://hook.test/"],
    ["a file", "file:///etc/passwd"],
    ["no address", "not an address"],
    ["nothing", ""],
  ])("%s", async (_what, url) => expect(await send(url)).toMatchObject(blocked));

  test.each([
    ["a user and a password", "http://user:pass@8.8.8.8:PORT/"],
    ["a user, for an allowed address", "http://user@127.0.0.1:PORT/"],
    ["an empty user, for an allowed address", "http://@127.0.0.1:PORT/"],
    ["a password alone, for an allowed address", "http://:pass@127.0.0.1:PORT/"],
    ["a user", "http://user@127.0.0.1:PORT/"],
    ["a public name before the @", "http://example.com@127.0.0.1:PORT/"],
    ["an address before a backslash", "http://127.0.0.1:PORT\\@8.8.8.8/"],
    ["an address before a hash", "http://127.0.0.1:PORT#@8.8.8.8/"],
    ["too few slashes", "http:127.0.0.1:PORT/"],
    ["backslashes", "http:\\\\127.0.0.1:PORT\\"],
    ["tabs and line breaks", "ht\ttp://127.0.\n0.1:PORT/"],
  ])("%s", async (_what, url) => {
    expect(await send(url.replace("PORT", `${port}`))).toMatchObject(blocked);
  });

  test("plain HTTP in production, even where the network is allowed", async () => {
    const settings = { isPlainHttpAllowed: false, allowedNetworks: { webhook: ["127.0.0.1"] } };
    expect(await send(`http://127.0.0.1:${port}/`, settings)).toMatchObject(blocked);
  });
});

describe("a name that is first public and later private", () => {
  // 127.0.0.1 is allowed here and plays the public address; ::1 is the closed one.
  const rebinding = (lookupKeptMs: number) => {
    const answers = [["127.0.0.1"], ["::1"], ["127.0.0.1", "::1"]];
    const requests = openGuardedRequests({
      isPlainHttpAllowed: true,
      allowedNetworks: { webhook: ["127.0.0.1"] },
      lookupKeptMs,
      lookup: async () => answers.shift() ?? [],
    });
    const url = `http://hook.test:${port}/`;
    const next = () => requests.guardedRequest({ url, method: "POST", body: "{}", headers: {}, purpose: "webhook" });
    return { answers, next, close: requests.close };
  };

  test("it is looked up once per request, and the checked address is the one connected to", async () => {
    const { answers, next, close } = rebinding(0);
    const before = connections();
    expect(await next()).toMatchObject({ outcome: "answered", status: 200, address: "127.0.0.1" });
    expect(answers[0]).toEqual(["::1"]);
    expect(connections()).toBe(before + 1);
    await close();
  });

  test("it is refused from then on, although a connection to the public address is kept", async () => {
    const { next, close } = rebinding(0);
    await next();
    const before = connections();
    expect(await next()).toMatchObject({ ...blocked, address: "::1" });
    expect(await next()).toMatchObject({ ...blocked, address: "::1" });
    expect(connections()).toBe(before);
    await close();
  });

  test("its look-up is cached for a moment", async () => {
    const { answers, next, close } = rebinding(10_000);
    await next();
    expect(await next()).toMatchObject({ outcome: "answered", address: "127.0.0.1" });
    expect(answers[0]).toEqual(["::1"]);
    await close();
  });
});

describe("names", () => {
  const dns = { outcome: "failed", errorClass: "dns", wasSent: false, address: undefined };

  test("an unknown name, one without addresses, and a resolver that throws", async () => {
    const lookups = [
      async () => Promise.reject(Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" })),
      async () => [],
      () => {
        throw new Error("no resolver");
      },
    ];
    for (const lookup of lookups) expect(await send("http://hook.test/", { lookup })).toMatchObject(dns);
  });

  test("a silent resolver runs into the shorter timeout", async () => {
    const requests = openGuardedRequests({
      isPlainHttpAllowed: true,
      allowedNetworks: { webhook: [] },
      lookup: () => new Promise(() => {}),
    });
    const result = await requests.guardedRequest({
      url: "http://hook.test/",
      method: "POST",
      headers: {},
      purpose: "webhook",
      connectTimeoutMs: 100,
    });
    expect(result).toMatchObject({ ...dns, errorClass: "timeout-connect" });
    expect(result.timings.dnsMs).toBeGreaterThanOrEqual(100);
    await requests.close();
  });
});

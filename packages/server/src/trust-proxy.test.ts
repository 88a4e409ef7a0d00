import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { parseTrustProxy } from "./client-address.ts";
import { createHttpServer } from "./http-server.ts";

test.each([
  ["true", true],
  ["false", false],
  ["0", false],
  ["1", 1],
  [" 2 ", 2],
  ["127.0.0.1", ["127.0.0.1"]],
  ["loopback, 10.0.0.0/8,fd00::/8", ["loopback", "10.0.0.0/8", "fd00::/8"]],
  ["::1", ["::1"]],
])("TRUST_PROXY=%s is parsed as %j", (text, expected) => {
  expect(parseTrustProxy(text)).toEqual(expected);
});

test.each([
  "",
  "yes",
  "TRUE",
  "-1",
  "1.5",
  "33",
  "1e3",
  "10.0.0.0/33",
  "10.0.0/8",
  "fe80::1%eth0",
  "a.example",
  "10.0.0.1,,",
])("TRUST_PROXY=%s is refused", (text) => {
  expect(parseTrustProxy(text)).toBeUndefined();
});

test.each([
  // A client can send entries of its own, and the proxies append theirs.
  ["1", "198.51.100.7", "203.0.113.9, 198.51.100.7"],
  ["2", "203.0.113.9", "192.0.2.1, 203.0.113.9, 198.51.100.7"],
  ["false", "127.0.0.1", "203.0.113.9"],
  ["127.0.0.1", "198.51.100.7", "203.0.113.9, 198.51.100.7"],
])("with TRUST_PROXY=%s the client is %s of %s", async (text, client, forwarded) => {
  const app = createHttpServer({ logger: pino({ level: "silent" }), trustProxy: parseTrustProxy(text) });
  app.get("/", (request) => request.ip);
  const answer = await app.inject({ url: "/", headers: { "x-forwarded-for": forwarded } });
  await app.close();
  expect(answer.body).toBe(client);
});

function warningsOf(text: string | undefined) {
  const lines: { msg: string }[] = [];
  const logger = pino({ level: "warn" }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const app = createHttpServer({ logger, trustProxy: text === undefined ? undefined : parseTrustProxy(text) });
  app.get("/", (request) => request.ip);
  onTestFinished(() => app.close());
  return { app, warnings: () => lines.map(({ msg }) => msg) };
}

test.each(["x-forwarded-for", "forwarded", "x-real-ip"])(
  "requests with %s and without TRUST_PROXY cause one warning, which names the setting",
  async (header) => {
    const { app, warnings } = warningsOf(undefined);
    await app.inject({ url: "/" });
    expect(warnings()).toEqual([]);
    for (const value of ["203.0.113.9", "203.0.113.10"]) await app.inject({ url: "/", headers: { [header]: value } });
    expect(warnings()).toEqual([expect.stringContaining("TRUST_PROXY is not set")]);
  },
);

test("a proxy whose address TRUST_PROXY does not contain causes one warning", async () => {
  const { app, warnings } = warningsOf("10.0.0.0/8");
  for (const _ of [1, 2]) await app.inject({ url: "/", headers: { "x-forwarded-for": "203.0.113.9" } });
  expect(warnings()).toEqual([expect.stringContaining("TRUST_PROXY does not contain the address")]);
});

test.each(["false", "1", "true", "127.0.0.1"])("TRUST_PROXY=%s that fits causes no warning", async (text) => {
  const { app, warnings } = warningsOf(text);
  // The second client is on the proxy's machine.
  for (const client of ["203.0.113.9", "127.0.0.1"]) {
    await app.inject({ url: "/", headers: { "x-forwarded-for": client } });
  }
  expect(warnings()).toEqual([]);
});

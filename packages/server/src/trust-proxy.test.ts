import { pino } from "pino";
import { expect, test } from "vitest";
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

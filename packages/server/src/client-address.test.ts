import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addressNetwork, clientNetworks } from "./client-address.ts";
import { createHttpServer } from "./http-server.ts";

const app = createHttpServer({
  logger: pino({ level: "silent" }),
  trustProxy: ["127.0.0.1", "10.0.0.0/8", "fd00::/8"],
});
let url = "";
beforeAll(async () => {
  app.get("/ip", async (request) => ({ ip: request.ip }));
  url = await app.listen({ host: "127.0.0.1", port: 0 });
});
afterAll(() => app.close());

async function ipOf(forwardedFor: string): Promise<unknown> {
  const response = await fetch(`${url}/ip`, { headers: { "x-forwarded-for": forwardedFor, connection: "close" } });
  return ((await response.json()) as { ip: unknown }).ip;
}

describe("an address has the same spelling in every form that a trusted proxy writes", () => {
  test.each([
    ["203.0.113.7", "203.0.113.7"],
    ["203.0.113.7:54321", "203.0.113.7"],
    [" 203.0.113.7 ", "203.0.113.7"],
    ['"203.0.113.7:80"', "203.0.113.7"],
    ["::ffff:203.0.113.7", "203.0.113.7"],
    ["::FFFF:CB00:7107", "203.0.113.7"],
    ["[::ffff:203.0.113.7]:443", "203.0.113.7"],
    ["2001:db8::1", "2001:db8::1"],
    ["2001:DB8:0:0::0001", "2001:db8::1"],
    ["[2001:db8::1]", "2001:db8::1"],
    ["[2001:db8::1]:443", "2001:db8::1"],
    ['"[2001:db8::1]:443"', "2001:db8::1"],
    ["fe80::1%eth0", "fe80::1"],
    ["[fe80::1%25eth0]:8080", "fe80::1"],
    // Entries that the client itself sent are not trusted; trusted proxies are skipped, with a port, too.
    ["198.51.100.9, 203.0.113.7:54321", "203.0.113.7"],
    ["203.0.113.7:54321, 10.1.2.3:8080", "203.0.113.7"],
    ["203.0.113.7, [FD00::12]:3000, ::ffff:10.1.2.3", "203.0.113.7"],
    ["203.0.113.7, fe80::1%eth-0_1.2", "fe80::1"],
  ])("%s", async (forwardedFor, ip) => expect(await ipOf(forwardedFor)).toBe(ip));

  const garbage = [
    "unknown",
    "_hidden",
    "",
    " , ",
    "x".repeat(4096),
    "1,".repeat(2000),
    "203.0.113.7:port",
    "203.0.113.7:65536",
    "203.0.113.7:",
    "203.0.113",
    "203.0.113.07",
    "0313.0.161.7",
    "0xcb.0.113.7",
    "3405803783",
    "1",
    "203.0.113.256",
    "[203.0.113.7",
    "[]",
    "[2001:db8::1]x",
    "2001:db8::1::2",
    "fe80::1%eth$0",
    "::ffff:203.0.113.999",
    "203.0.113.7/24",
    '"203.0.113.7',
    "for=203.0.113.7",
    "203.0.113.7;proto=https",
  ];

  test("text that is no address is one visitor, the proxy that passed it on, and hides what the client put before it", async () => {
    for (const text of garbage) {
      const seen = [
        await ipOf(text),
        await ipOf(`198.51.100.9, ${text}`),
        await ipOf(`198.51.100.9, ${text}, 10.1.2.3`),
      ];
      expect([text.slice(0, 40), ...seen]).toEqual([text.slice(0, 40), "127.0.0.1", "127.0.0.1", "10.1.2.3"]);
    }
    expect(new Set(garbage.map((text) => JSON.stringify(clientNetworks(text)))).size).toBe(1);
  });
});

test("limits count by the 64 bits that one household has, and by IPv4 address", () => {
  expect(addressNetwork("2001:db8:1:2:3:4:5:6")).toBe("2001:db8:1:2::/64");
  expect(addressNetwork("2001:DB8:1:2::ffff")).toBe("2001:db8:1:2::/64");
  expect(addressNetwork("2001:db8:1:3::1")).not.toBe("2001:db8:1:2::/64");
  expect(addressNetwork("::ffff:203.0.113.7")).toBe("203.0.113.7");
  expect(addressNetwork("203.0.113.8")).toBe("203.0.113.8");
  expect(addressNetwork("unknown")).toBe("unknown");
  expect(clientNetworks("203.0.113.8").wider).toBe(clientNetworks("203.0.113.200").wider);
  expect(clientNetworks("203.0.113.8").wider).not.toBe(clientNetworks("203.0.114.8").wider);
  expect(clientNetworks("2001:db8:1:2::1").wider).toBe("2001:db8:1:0::/56");
  expect(clientNetworks("2001:db8:1:ff::1").wider).toBe("2001:db8:1:0::/56");
  expect(clientNetworks("2001:db8:1:12ff::1").wider).toBe("2001:db8:1:1200::/56");
  expect(clientNetworks("2001:db8::1")).toEqual({ client: "2001:db8:0:0::/64", wider: "2001:db8:0:0::/56" });
  expect(clientNetworks("::1")).toEqual({ client: "0:0:0:0::/64", wider: "0:0:0:0::/56" });
});

test("IPv4 addresses that a NAT64 or a translator writes as IPv6 are different visitors", () => {
  for (const address of ["64:ff9b::203.0.113.7", "64:FF9B:0:0::cb00:7107", "::ffff:0:203.0.113.7"])
    expect(clientNetworks(address)).toEqual({ client: "203.0.113.7", wider: "203.0.113" });
});

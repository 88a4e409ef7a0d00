import { describe, expect, test } from "vitest";
import { isAddressOpen, isSameAddress, parseNetworks } from "./address-guard.ts";

/** What the guard sees of a URL: the hostname that the URL parser wrote, brackets off. */
const literalOf = (host: string) => new URL(`http://${host}/`).hostname.replace(/^\[|\]$/g, "");

const closed = {
  "loopback, in every spelling of the URL parser": [
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0177.0.0.1",
    "0177.0.0.01",
    "017700000001",
    "0x7f.0x0.0x0.0x1",
    "127.255.255.254",
    "127.0.0.1.",
    "%31%32%37.0.0.1",
    "127。0。0。1",
    "①②⑦.0.0.1",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[0000::0001]",
  ],
  "this network and broadcast": ["0.0.0.0", "0", "0.1.2.3", "0x0", "255.255.255.255", "4294967295", "[::]"],
  "private networks": [
    "10.0.0.1",
    "10.255.255.255",
    "012.0.0.1",
    "167772161",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.0.1",
    "0xc0.0xa8.0.1",
    "3232235521",
  ],
  "link-local and cloud metadata": [
    "169.254.0.1",
    "169.254.169.254",
    "2852039166",
    "0xa9fea9fe",
    "0251.0376.0251.0376",
    "[fe80::1]",
    "[febf::1]",
    "[fd00:ec2::254]",
  ],
  "carrier-grade NAT": ["100.64.0.1", "100.127.255.255", "100.100.100.200"],
  multicast: ["224.0.0.1", "239.255.255.255", "[ff02::1]", "[ff0e::1]"],
  "documentation, benchmarks, reserved": [
    "192.0.2.1",
    "198.51.100.1",
    "203.0.113.1",
    "198.18.0.1",
    "198.19.255.255",
    "192.0.0.1",
    "192.0.0.192",
    "192.88.99.1",
    "240.0.0.1",
    "254.1.2.3",
    "[2001:db8::1]",
    "[3fff::1]",
    "[2001:2::1]",
    "[100::1]",
    "[5f00::1]",
  ],
  "IPv6 that carries IPv4": [
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::ffff:8.8.8.8]",
    "[::127.0.0.1]",
    "[::7f00:1]",
    "[::8.8.8.8]",
    "[::ffff:0:127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b::8.8.8.8]",
    "[64:ff9b:1::7f00:1]",
    "[2002:7f00:1::]",
    "[2002:808:808::1]",
    "[2001:0:7f00:1::]",
    "[2001:0:4136:e378:8000:63bf:3fff:fdd2]",
  ],
  "unique local, site-local and unassigned": [
    "[fc00::1]",
    "[fdff::1]",
    "[fec0::1]",
    "[4000::1]",
    "[8000::1]",
    "[1::1]",
    "[2001:10::1]",
    "[2001:20::1]",
  ],
};

describe("addresses that webhooks must not reach are closed", () => {
  for (const [what, hosts] of Object.entries(closed)) {
    test.each(hosts)(`${what}: %s`, (host) => {
      expect(isAddressOpen(literalOf(host), [])).toBe(false);
    });
  }
});

test.each([
  "8.8.8.8",
  "1.1.1.1",
  "93.184.216.34",
  "100.63.255.255",
  "100.128.0.1",
  "172.15.0.1",
  "172.32.0.1",
  "223.255.255.255",
  "[2606:4700::1111]",
  "[2a00:1450:4001:80e::200e]",
])("a public address is open: %s", (host) => expect(isAddressOpen(literalOf(host), [])).toBe(true));

test.each(["", "localhost", "example.com", "fe80::1%eth0", "127.0.0.1:80", "[::1]", "::1]", "1.2.3.4 "])(
  "what is no plain address is closed: %j",
  (text) => expect(isAddressOpen(text, parseNetworks(["0.0.0.0/0", "::/0"]))).toBe(false),
);

test.each(["http://[fe80::1%25eth0]/", "http://256.1.1.1/", "http://1.2.3.4.5/"])("the URL parser refuses %s", (url) =>
  expect(URL.canParse(url)).toBe(false),
);

test("an allowed network opens itself and nothing beside it", () => {
  const networks = parseNetworks(["127.0.0.0/8", "10.1.2.3", "fd00:1::/32"]);
  expect(isAddressOpen("127.0.0.1", networks)).toBe(true);
  expect(isAddressOpen("10.1.2.3", networks)).toBe(true);
  expect(isAddressOpen("fd00:1::9", networks)).toBe(true);
  for (const address of ["10.1.2.4", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "fd00:2::9"]) {
    expect(isAddressOpen(address, networks), address).toBe(false);
  }
});

test("what is no network is refused at the start", () => {
  for (const text of ["localhost", "10.0.0.0/33", "10.0.0.0/", "/8", "::/129"]) {
    expect(() => parseNetworks([text]), text).toThrow("is no network");
  }
});

test("a peer is compared by address, not by spelling", () => {
  expect(isSameAddress("127.0.0.1", "::ffff:127.0.0.1")).toBe(true);
  expect(isSameAddress("::1", "0:0:0:0:0:0:0:1")).toBe(true);
  expect(isSameAddress("127.0.0.1", "127.0.0.2")).toBe(false);
  expect(isSameAddress("127.0.0.1", undefined)).toBe(false);
});

import { expect, test } from "vitest";
import { isAddressOpen, isSameAddress, parseNetworks } from "./address-guard.ts";

/** The guard's input for a URL: the hostname as the URL parser writes it, without brackets. */
const literalOf = (host: string) => new URL(`http://${host}/`).hostname.replace(/^\[|\]$/g, "");

test.each([
  "8.8.8.8",
  "1.1.1.1",
  "93.184.216.34",
  "100.63.255.255",
  "100.128.0.1",
  "172.15.0.1",
  "172.32.0.1",
  "223.255.255.255",
  "168.63.129.15",
  "168.63.129.17",
  "161.25.255.255",
  "161.27.0.0",
  "166.7.255.255",
  "166.12.0.0",
  "[2606:4700::1111]",
  "[2a00:1450:4001:80e::200e]",
])("a public address is open: %s", (host) => expect(isAddressOpen(literalOf(host), [])).toBe(true));

test.each(["", "localhost", "example.com", "fe80::1%eth0", "127.0.0.1:80", "[::1]", "::1]", "1.2.3.4 "])(
  "text that is not a plain address is closed: %j",
  (text) => expect(isAddressOpen(text, parseNetworks(["0.0.0.0/0", "::/0"]))).toBe(false),
);

test("an allowed network opens only its own addresses", () => {
  const networks = parseNetworks(["127.0.0.0/8", "10.1.2.3", "fd00:1::/32"]);
  expect(isAddressOpen("127.0.0.1", networks)).toBe(true);
  expect(isAddressOpen("10.1.2.3", networks)).toBe(true);
  expect(isAddressOpen("fd00:1::9", networks)).toBe(true);
  for (const address of ["10.1.2.4", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "fd00:2::9"]) {
    expect(isAddressOpen(address, networks), address).toBe(false);
  }
});

test("text that is not a network is refused by the parser", () => {
  for (const text of ["localhost", "10.0.0.0/33", "10.0.0.0/", "/8", "::/129"]) {
    expect(() => parseNetworks([text]), text).toThrow("is not a network");
  }
});

test("a peer is compared by address, not by spelling", () => {
  expect(isSameAddress("127.0.0.1", "::ffff:127.0.0.1")).toBe(true);
  expect(isSameAddress("::1", "0:0:0:0:0:0:0:1")).toBe(true);
  expect(isSameAddress("127.0.0.1", "127.0.0.2")).toBe(false);
  expect(isSameAddress("127.0.0.1", undefined)).toBe(false);
});

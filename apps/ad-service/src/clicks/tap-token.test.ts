import { addressNetwork } from "@intermission/server/client-address";
import { describe, expect, test } from "vitest";
import { issueTapToken, isTapToken, type TapVisit, tapTokenKey } from "./link-page.ts";

const key = tapTokenKey(Buffer.alloc(32, 7));
const now = new Date("2026-03-01T12:00:00Z");
const later = (seconds: number) => new Date(now.getTime() + seconds * 1000);
const visit = { code: "ABCDEFGHJKMNPQRS", client: "203.0.113.7" };
const token = issueTapToken(key, visit, now);
const isValid = (given: string | undefined, of: TapVisit, at: Date) => isTapToken(key, given, of, at);

test("a token is valid for its code and address for ten minutes, on every node", () => {
  expect(token).toMatch(/^[\w.-]{40,80}$/);
  expect(isValid(token, visit, now)).toBe(true);
  expect(isValid(token, visit, later(600))).toBe(true);
  expect(isValid(token, visit, later(601))).toBe(false);
  expect(isTapToken(tapTokenKey(Buffer.alloc(32, 7)), token, visit, later(1))).toBe(true);
  // As on a node whose clock is a little ahead.
  expect(isValid(issueTapToken(key, visit, later(30)), visit, now)).toBe(true);
});

test("a token is valid for another spelling of its address, and for any address of the IPv6 household", () => {
  expect(isValid(token, { ...visit, client: addressNetwork("::ffff:203.0.113.7") }, now)).toBe(true);
  const v6 = issueTapToken(key, { ...visit, client: addressNetwork("2001:db8:1:2::1") }, now);
  expect(isValid(v6, { ...visit, client: addressNetwork("2001:DB8:1:2:ffff::2") }, now)).toBe(true);
  expect(isValid(v6, { ...visit, client: addressNetwork("2001:db8:1:3::1") }, now)).toBe(false);
});

describe("nothing else is valid", () => {
  const [time = "", mac = ""] = token.split(".");
  const longer = Buffer.from(mac, "base64url");
  test.each([
    ["none", undefined],
    ["an empty one", ""],
    ["a time alone", time],
    ["an empty signature", `${time}.`],
    ["a signature that was cut", `${time}.${mac.slice(0, -2)}`],
    ["a signature that was lengthened", `${time}.${Buffer.concat([longer, Buffer.alloc(1)]).toString("base64url")}`],
    ["another signature", `${time}.${Buffer.alloc(32, 1).toString("base64url")}`],
    ["a later time", `${(Number.parseInt(time, 36) + 60).toString(36)}.${mac}`],
    ["a time that never ends", `zzzzzzzzzzzz.${mac}`],
    ["three parts", `${token}.${mac}`],
    ["blanks around it", ` ${token} `],
    ["a long text", "x".repeat(100_000)],
    ["other characters", "é.ü"],
  ])("%s", (_what, given) => expect(isValid(given, visit, now)).toBe(false));

  test.each([
    ["of another code", { ...visit, code: "ABCDEFGHJKMNPQRT" }],
    ["of another address", { ...visit, client: addressNetwork("203.0.113.8") }],
  ])("a token %s", (_what, other) => expect(isValid(token, other, now)).toBe(false));

  test("a token under another key", () => {
    expect(isTapToken(tapTokenKey(Buffer.alloc(32, 8)), token, visit, now)).toBe(false);
  });
});

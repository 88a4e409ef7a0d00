import { addressNetwork } from "@intermission/server/client-address";
import { describe, expect, test } from "vitest";
import { issueTapToken, judgeTap, newTapCookie, type TapVisit, tapCookieIn, tapTokenKey } from "./tap-token.ts";

const key = tapTokenKey(Buffer.alloc(32, 7));
const now = new Date("2026-03-01T12:00:00Z");
const later = (seconds: number) => new Date(now.getTime() + seconds * 1000);
const cookie = "AAAAAAAAAAAAAAAAAAAAA1";
const visit = { code: "ABCDEFGHJKMNPQRSTU", client: "203.0.113.7", cookie };
const elsewhere = { ...visit, client: "2001:db8:1:2::/64" };
const token = issueTapToken(key, visit, "first", now);
const second = issueTapToken(key, visit, "second", now);
const judge = (presented: string | undefined, of: TapVisit, at = now) => judgeTap([key], presented, of, at);

const accepted = { outcome: "accepted", suspicion: undefined };
const refused = { outcome: "refused", next: "first" };
const secondPage = { outcome: "refused", next: "second" };

test("a token is valid for ten minutes, on every node", () => {
  expect(token).toMatch(/^[\w.-]{60,90}$/);
  expect(judge(token, visit)).toEqual(accepted);
  expect(judge(token, visit, later(600))).toEqual(accepted);
  expect(judge(token, visit, later(601))).toEqual(secondPage);
  expect(judge(second, visit, later(601))).toEqual(secondPage);
  expect(judgeTap([tapTokenKey(Buffer.alloc(32, 7))], token, visit, later(1))).toEqual(accepted);
  // As on a node whose clock is a little ahead.
  expect(judge(issueTapToken(key, visit, "first", later(30)), visit)).toEqual(accepted);
});

describe("the cookie or the address must be the page's", () => {
  const bare = { ...visit, cookie: undefined };
  const foreign = { ...visit, cookie: newTapCookie() };
  const bareElsewhere = { ...elsewhere, cookie: undefined };
  const foreignElsewhere = { ...elsewhere, cookie: newTapCookie() };
  const changed = { outcome: "accepted", suspicion: "address-changed" };
  const unconfirmed = { outcome: "accepted", suspicion: "tap-unconfirmed" };
  test.each([
    ["the address, without a cookie", bare, accepted, accepted],
    ["the address, with another page's cookie", foreign, accepted, accepted],
    ["the cookie, at another address", elsewhere, changed, changed],
    ["neither, without a cookie", bareElsewhere, secondPage, unconfirmed],
    ["neither, with another page's cookie", foreignElsewhere, secondPage, unconfirmed],
  ] as const)("%s", (_what, of, onFirstPage, onSecondPage) => {
    expect(judge(token, of)).toEqual(onFirstPage);
    expect(judge(second, of)).toEqual(onSecondPage);
  });

  test("an address in another spelling is the same, and so is any address of the IPv6 household", () => {
    const bound = (address: string) => ({ ...bare, client: addressNetwork(address) });
    expect(judge(token, bound("::ffff:203.0.113.7"))).toEqual(accepted);
    const v6 = issueTapToken(key, { ...bound("2001:db8:1:2::1"), cookie }, "first", now);
    expect(judge(v6, bound("2001:DB8:1:2:ffff::2"))).toEqual(accepted);
    expect(judge(v6, bound("2001:db8:1:3::1"))).toEqual(secondPage);
  });
});

describe("nothing else is valid", () => {
  const [end = "", page = "", cookieMark = "", addressMark = "", mac = ""] = token.split(".");
  const longer = Buffer.from(mac, "base64url");
  const other = issueTapToken(key, { ...elsewhere, cookie: newTapCookie() }, "first", now).split(".");
  test.each([
    ["none", undefined],
    ["an empty one", ""],
    ["a time alone", end],
    ["no signature", `${end}.${page}.${cookieMark}.${addressMark}.`],
    ["a signature that was cut", token.slice(0, -2)],
    [
      "a signature that was lengthened",
      `${token.slice(0, -43)}${Buffer.concat([longer, Buffer.alloc(1)]).toString("base64url")}`,
    ],
    ["another signature", `${token.slice(0, -43)}${Buffer.alloc(32, 1).toString("base64url")}`],
    ["a later time", `${(Number.parseInt(end, 36) + 60).toString(36)}.${page}.${cookieMark}.${addressMark}.${mac}`],
    ["a time that never ends", `zzzzzzzzzzzz.${page}.${cookieMark}.${addressMark}.${mac}`],
    ["the second page instead of the first", `${end}.2.${cookieMark}.${addressMark}.${mac}`],
    ["a third page", `${end}.3.${cookieMark}.${addressMark}.${mac}`],
    ["the cookie of another page", `${end}.${page}.${other[2]}.${addressMark}.${mac}`],
    ["the address of another page", `${end}.${page}.${cookieMark}.${other[3]}.${mac}`],
    ["more parts", `${token}.${mac}`],
    ["blanks around it", ` ${token} `],
    ["a long text", "x".repeat(100_000)],
    ["other characters", "é.ü"],
  ])("%s", (_what, presented) => expect(judge(presented, visit)).toEqual(refused));

  test("a token of another code, also on the second page and after it expired", () => {
    for (const presented of [token, second]) {
      for (const at of [now, later(601)])
        expect(judge(presented, { ...visit, code: "ABCDEFGHJKMNPQRSTV" }, at)).toEqual(refused);
    }
  });

  test("a token under another key", () => {
    expect(judgeTap([tapTokenKey(Buffer.alloc(32, 8))], token, visit, now)).toEqual(refused);
  });
});

test("the cookie is found among others, and nothing else is taken for it", () => {
  expect(newTapCookie()).not.toBe(newTapCookie());
  for (const header of [`tap=${cookie}`, `a=b; tap=${cookie}`, `a=b;tap=${cookie};c=d`]) {
    expect(tapCookieIn(header)).toBe(cookie);
  }
  for (const header of [undefined, "", "tap=", `xtap=${cookie}`, `tap=${cookie}A`, `tap="${cookie}"`, "tap=é"]) {
    expect(tapCookieIn(header)).toBeUndefined();
  }
});

test("while the key is rotated, a page that was sent with either key is accepted", () => {
  const [old, next] = [tapTokenKey(Buffer.alloc(32, 1)), tapTokenKey(Buffer.alloc(32, 2))];
  const visit = { code: "abc", client: "198.51.100.1", cookie: newTapCookie() };
  const now = new Date("2026-05-01T12:00:00Z");
  for (const key of [old, next])
    expect(judgeTap([old, next], issueTapToken(key, visit, "first", now), visit, now)).toMatchObject({
      outcome: "accepted",
    });
  expect(judgeTap([next], issueTapToken(old, visit, "first", now), visit, now)).toEqual({
    outcome: "refused",
    next: "first",
  });
});

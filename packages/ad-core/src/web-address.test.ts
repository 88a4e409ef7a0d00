import { runsToReachAll } from "@intermission/testing/property-seeds";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hasUserInfo, isPlainHttp, unescapedAddress, webAddressFault } from "./web-address.ts";

const inProduction = (text: string) => webAddressFault(text, { isPlainHttpAllowed: false });
const inDemo = (text: string) => webAddressFault(text, { isPlainHttpAllowed: true });

describe("an address that is stored or fetched", () => {
  test.each([
    "https://example.com",
    "HTTPS://Example.com/Path?a=b@c#d@e",
    "https://example.com/@name",
    "https://example.com?mail=a@b.c",
    "https://[2001:db8::1]:8443/",
  ])("%j is valid", (text) => expect([inProduction(text), inDemo(text)]).toEqual([undefined, undefined]));

  test.each([
    "http://example.com",
    "HTTP://example.com",
    "hTTp://example.com",
    " http://example.com",
    "ht\ntp://a.com",
  ])("%j is recognized as plain HTTP", (text) => {
    expect([inProduction(text), inDemo(text), isPlainHttp(text)]).toEqual(["scheme", undefined, true]);
  });

  test.each(["ftp://example.com", "javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "ws://example.com"])(
    "%j is refused for its scheme",
    (text) => expect([inProduction(text), inDemo(text)]).toEqual(["scheme", "scheme"]),
  );

  test.each(["", "example.com", "//example.com", "https://", "https://exa mple.com", "https://a:99999/"])(
    "%j is not an address",
    (text) => expect([inProduction(text), inDemo(text)]).toEqual(["not-an-address", "not-an-address"]),
  );

  test.each([
    "https://user@example.com/",
    "https://user:password@example.com/",
    "https://:password@example.com/",
    "https://@example.com/",
    "https://:@example.com/",
    "HTTPS://USER@example.com",
    "https:user@example.com",
    "https:/user@example.com",
    "https:\\\\user@example.com",
    "https:///@example.com",
    "\u0001 https://@example.com",
    "ht\ttps://us\ner@example.com",
    "https://a@b@example.com/",
  ])("%j contains user info", (text) => expect(inDemo(text)).toBe("user-info"));

  test.each(["//user@example.com/", "\\\\@example.com", "/\\@example.com"])(
    "a redirect to %j contains user info",
    (location) => expect(hasUserInfo(location)).toBe(true),
  );

  test.each(["/path@x", "path@x", "?a=@", "#@", "./@", "", "//example.com/@"])(
    "a redirect to %j contains no user info",
    (location) => expect(hasUserInfo(location)).toBe(false),
  );

  test("a valid address never has a user name, a password or a scheme other than HTTP's when parsed", () => {
    const junk = fc.array(
      fc.constantFrom(
        "h",
        "t",
        "p",
        "s",
        "https:",
        "HTTP:",
        "//",
        "\\",
        "@",
        ":",
        "a",
        ".",
        " ",
        "\t",
        "\n",
        "?",
        "#",
        "\u0001",
      ),
      { maxLength: 14 },
    );
    fc.assert(
      fc.property(junk, (parts) => {
        const text = parts.join("");
        if (inDemo(text) !== undefined) return true;
        const url = new URL(text);
        return url.username === "" && url.password === "" && /^https?:$/.test(url.protocol);
      }),
      { numRuns: runsToReachAll(2000) },
    );
  });
});

test.each([
  ["https://a.b/?x=1&amp;y=2&AMP;z=3", "https://a.b/?x=1&y=2&z=3"],
  ["https://a.b/?x=1&amp;amp;y=2&#38;z=3&#x26;w=4", "https://a.b/?x=1&y=2&z=3&w=4"],
  ["https://a.b/?x=1&y=2&amplitude=3&amp=4#amp;", "https://a.b/?x=1&y=2&amplitude=3&amp=4#amp;"],
])("the address %s, which was escaped for HTML or XML, means %s", (text, address) => {
  expect(unescapedAddress(text)).toBe(address);
});

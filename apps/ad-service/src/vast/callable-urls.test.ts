import { expect, test } from "vitest";
import { callableUrls } from "./vast-ad.ts";

test("a URL without scheme or host, with a macro in its host or with too many characters is not called", () => {
  const urls = ["", "relative", "//a.b/", "ftp://a.b/", "https://", "https://[CLICKID].b/", "https://a%2eb/"];
  expect(
    callableUrls([...urls, `https://a.b/${"x".repeat(5000)}`, "https://a.b", "HTTP://a.b?[CACHEBUSTING]"]),
  ).toEqual(["https://a.b", "HTTP://a.b?[CACHEBUSTING]"]);
});

test("each URL of several lists counts once, the first 32 in total", () => {
  const urls = Array.from({ length: 40 }, (_, index) => `https://a.b/${index}`);
  expect(callableUrls(urls.slice(0, 20), undefined, urls)).toEqual(urls.slice(0, 32));
});

import { pageLanguage } from "@intermission/server/page-language";
import { describe, expect, test } from "vitest";
import { linkPage } from "./link-page.ts";
import { fromNow, type PageName, pageTexts } from "./page-texts.ts";

const hostile = { name: `<script>alert("1")</script>&'`, username: `x" onmouseover="1` };

test.each(Object.keys(pageTexts.en) as PageName[])("values put into the page are never markup: %s", (name) => {
  for (const language of ["en", "ru"] as const) {
    const onward = name === "address-limit" ? `https://shop.test/?a="><img>` : undefined;
    const form = name === "tap-needed" ? { action: `/"><img>`, token: `"><img>` } : undefined;
    const page = linkPage({ name, language, bot: hostile, form, onward, seconds: 61 });
    expect(page).not.toContain("<script");
    expect(page).not.toContain("<img");
    expect(page).not.toContain('" onmouseover');
    expect(page).not.toContain("{when}");
    expect(page).toContain(`<html lang="${language}">`);
    expect(page).toContain("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;");
  }
});

describe("the language is the one that the browser prefers", () => {
  test.each([
    [undefined, "en"],
    ["", "en"],
    ["ru", "ru"],
    ["ru-RU,ru;q=0.9,en-US;q=0.8", "ru"],
    ["en-US,en;q=0.9,ru;q=0.8", "en"],
    ["de-DE,ru;q=0.5,en;q=0.3", "ru"],
    ["de,fr", "en"],
    ["ru;q=0,en;q=0.1", "en"],
    ["ru;q=x", "en"],
    [",;;,q=1", "en"],
  ])("%j: %s", (header, language) => expect(pageLanguage(header)).toBe(language));
});

test("durations are written in words", () => {
  expect(fromNow(1, "en")).toBe("in 1 second");
  expect(fromNow(61, "en")).toBe("in 2 minutes");
  expect(fromNow(7200, "ru")).toBe("через 2 часа");
});

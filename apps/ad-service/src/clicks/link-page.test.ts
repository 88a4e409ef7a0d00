import { directionOf, pageLanguage, pageLanguages } from "@intermission/ad-core/page-language";
import { describe, expect, test } from "vitest";
import { fromNow, linkPage, linkPageTexts } from "./link-page.ts";
import type { PageName } from "./page-texts/link-page-texts.ts";

const hostile = { name: `<script>alert("1")</script>&'`, username: `x" onmouseover="1` };

test.each(Object.keys(linkPageTexts.en.pages) as PageName[])(
  "values put into the page are never markup: %s",
  (name) => {
    for (const language of pageLanguages) {
      const onward = name === "address-limit" ? `https://shop.test/?a="><img>` : undefined;
      const form = name === "tap-needed" ? { action: `/"><img>`, token: `"><img>` } : undefined;
      const page = linkPage({ name, language, bot: hostile, form, onward, seconds: 61 });
      expect(page).not.toContain("<script");
      expect(page).not.toContain("<img");
      expect(page).not.toContain('" onmouseover');
      expect(page).not.toContain("{when}");
      expect(page).toContain(`<html lang="${language}" dir="${directionOf(language)}">`);
      expect(page).toContain("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;");
    }
  },
);

describe("the language is the one that the browser prefers", () => {
  test.each([
    [undefined, "en"],
    ["", "en"],
    ["ru", "ru"],
    ["ru-RU,ru;q=0.9,en-US;q=0.8", "ru"],
    ["en-US,en;q=0.9,ru;q=0.8", "en"],
    ["de-DE,ru;q=0.5,en;q=0.3", "de"],
    ["pl-PL,ru;q=0.5,en;q=0.3", "ru"],
    ["pl,sv", "en"],
    ["in-ID,en;q=0.8", "id"],
    ["pt_BR,en;q=0.8", "pt"],
    ["ru;q=0,en;q=0.1", "en"],
    ["ru;q=x", "en"],
    ["pt-BR,pt;q=0.9,en;q=0.8", "pt"],
    ["constructor,__proto__", "en"],
    [",;;,q=1", "en"],
  ])("%j: %s", (header, language) => expect(pageLanguage(header)).toBe(language));
});

test.each(pageLanguages)(
  "each page in %s has texts of its own, with the placeholders of the English ones",
  (language) => {
    const { go, back, pages } = linkPageTexts[language];
    const english = linkPageTexts.en;
    expect(back.split("{bot}")).toHaveLength(2);
    const entries = Object.entries(pages) as [PageName, { title: string; text: string }][];
    const texts = entries.flatMap(([, { title, text }]) => [title, text]).concat(go, back);
    expect(
      texts.filter((text) => text.trim() !== text || text === "" || /["'`]|\.\.\./.test(text.replace(/[ʼ’]/g, ""))),
    ).toEqual([]);
    for (const [name, { title, text }] of entries) {
      expect(text.includes("{when}"), name).toBe(english.pages[name].text.includes("{when}"));
      if (language !== "en") expect([title, text]).not.toEqual([english.pages[name].title, english.pages[name].text]);
    }
  },
);

test("a page from right to left isolates the bot's username", () => {
  const page = linkPage({ name: "expired", language: "ar", bot: { name: "بوت", username: "coin_bot" } });
  expect(page).toContain('<html lang="ar" dir="rtl">');
  expect(page).toContain("العودة إلى <bdi>@coin_bot</bdi></a>");
});

test("durations are written in words", () => {
  expect(fromNow(1, "en")).toBe("in 1 second");
  expect(fromNow(61, "en")).toBe("in 2 minutes");
  expect(fromNow(7200, "ru")).toBe("через 2 часа");
});

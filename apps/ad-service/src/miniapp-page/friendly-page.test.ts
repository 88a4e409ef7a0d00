import { directionOf, pageLanguages } from "@intermission/ad-core/page-language";
import { expect, test } from "vitest";
import { linkPage } from "../clicks/link-page.ts";
import { friendlyPage } from "./friendly-page.ts";
import { type FriendlyPage, friendlyPageTexts } from "./friendly-page-texts.ts";

const names = Object.keys(friendlyPageTexts.en) as FriendlyPage[];

test.each(pageLanguages)("each error page is in %s for a browser that prefers it, with its direction", (language) => {
  for (const name of names) {
    const page = friendlyPage(name, `${language},en;q=0.1`);
    const { title, text } = friendlyPageTexts[language][name];
    expect(page).toContain(`<html lang="${language}" dir="${directionOf(language)}">`);
    expect(page).toContain(`<h1>${title}</h1>\n<p>${text}</p>`);
    expect(`${title}${text}`).not.toMatch(/[<>&"]/);
    if (language !== "en") expect(title).not.toBe(friendlyPageTexts.en[name].title);
  }
});

test("error pages look like the pages of direct links: the same style, the same card", () => {
  const frameOf = (page: string) => page.replace(/<title>.*<\/title>/, "").replace(/<main>.*<\/main>/s, "");
  expect(frameOf(friendlyPage("unknown-bot", "ar"))).toBe(frameOf(linkPage({ name: "unknown-code", language: "ar" })));
});

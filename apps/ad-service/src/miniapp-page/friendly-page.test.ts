import { directionOf, pageLanguages } from "@intermission/ad-core/page-language";
import { expect, test } from "vitest";
import { friendlyPage } from "./friendly-page.ts";
import { type FriendlyPage, friendlyPageTexts } from "./friendly-page-texts.ts";

const names = Object.keys(friendlyPageTexts.en) as FriendlyPage[];

test.each(pageLanguages)("each error page is in %s for a browser that prefers it, with its direction", (language) => {
  for (const name of names) {
    const page = friendlyPage(name, `${language},en;q=0.1`);
    const { title, text } = friendlyPageTexts[language][name];
    expect(page).toContain(`<html lang="${language}" dir="${directionOf(language)}">`);
    expect(page).toContain(`<h1 style="font-size:1.5rem">${title}</h1>\n<p>${text}</p>`);
    // The texts are put into the page as they are.
    expect(`${title}${text}`).not.toMatch(/[<>&"]/);
    if (language !== "en") expect(title).not.toBe(friendlyPageTexts.en[name].title);
  }
});

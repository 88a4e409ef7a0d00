import { directionOf, pageLanguages } from "@intermission/ad-core/page-language";
import { expect, test } from "vitest";
import { settingsPage } from "./settings-page.ts";
import { settingsTexts } from "./settings-page-texts.ts";

const bot = {
  name: "Coin <Garden>",
  username: "coin_garden_bot",
  privacyUrl: "https://garden.example/privacy?a=1&b=2#ads",
};

test.each(pageLanguages)(
  "the settings page in %s says what is stored, how it is erased, and links to the policy",
  (language) => {
    const page = settingsPage(bot, `${language},en;q=0.1`);
    expect(page).toContain(`<html lang="${language}" dir="${directionOf(language)}">`);
    const texts = settingsTexts[language];
    for (const [key, text] of Object.entries(texts)) {
      expect(page, key).toContain(text);
      expect(text, key).not.toMatch(/[<>&"']|^\s|\s$/);
      if (language !== "en") expect(text, key).not.toBe(settingsTexts.en[key as keyof typeof texts]);
    }
    expect(page).toContain(`<a class="back" href="https://garden.example/privacy?a=1&amp;b=2#ads">${texts.policy}</a>`);
    expect(page).toContain(`<a class="back" href="https://t.me/coin_garden_bot">${texts.chat}</a>`);
    expect(page).toContain("Coin &lt;Garden&gt;");
  },
);

test("a bot without a policy and without a username has no links", () => {
  expect(settingsPage({ ...bot, username: null, privacyUrl: null }, "en")).not.toContain("<a ");
});

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pageLanguages } from "@intermission/ad-core/page-language";
import { expect, test } from "vitest";
import { friendlyPageTexts } from "../apps/ad-service/src/miniapp-page/friendly-page-texts.ts";
import { en } from "../apps/miniapp/src/locales/en.ts";
import { root } from "./processes.ts";

const folders = [
  "apps/miniapp/src/locales",
  "apps/miniapp/src/about-ad/texts",
  "apps/ad-service/src/clicks/page-texts",
] as const;
type Language = (typeof pageLanguages)[number];

/** All texts of a language: those of the mini-app, of its sheet, of links and of error pages. */
function textsOf(language: Language): string {
  const files = folders.map((folder) => readFileSync(join(root, folder, `${language}.ts`), "utf8"));
  return [...files, JSON.stringify(friendlyPageTexts[language])].join("\n");
}

const word = (words: string) => new RegExp(`(?<![\\p{L}\\p{M}])(${words})(?![\\p{L}\\p{M}])`, "giu");

/** The other way to address a user: one way is Telegram's in that language (docs/decisions/words.md). */
const otherAddress: Record<Language, RegExp | undefined> = {
  en: undefined,
  ru: word("ты|тебе|тебя|твой|твоя|твоё|твои|нажми|открой|закрой|посмотри"),
  uk: word("ти|тобі|тебе|твій|твоя|твоє|твої|натисни|відкрий|закрий|подивися"),
  es: word("usted|ustedes|vuelva|abra|cierre|revise"),
  pt: word("tu|teu|tua|teus|tuas|senhor|senhora"),
  ar: undefined,
  fa: word("تو|بزن|ببند|باز کن"),
  hi: word("तुम|तू|तुम्हारा|तुम्हारे|करो|देखो"),
  id: word("kamu|kalian|lu|(?:\\p{L}{3,}(?<!ka)(?<!se)(?<!te)(?<!ta)(?<!ja))mu"),
  tr: word("sen|senin|sana|seni|dokun|kapatabilirsin"),
  uz: word("sen|senga|sening|bos|yop"),
  de: word("Ihnen|Ihr|Ihre|Ihrem|Ihren|Ihrer"),
  fr: word("tu|toi|ton|ta|tes"),
  vi: word("mày|quý khách|anh/chị"),
  it: word("tocchi|apra|chiuda|torni|guardi"),
};

/** Words for which Telegram, and so these texts, have another one; two words for one thing. */
const otherWords: Partial<Record<Language, RegExp>> = {
  ru: word("вебапп|ролик|коснитесь|вознаграждени\\p{L}+"),
  uk: word("ролик|торкніться|винагород\\p{L}+"),
  es: word("quitar el sonido|ordenador|vídeo"),
  pt: word("de novo|aparelho|celulares|desativar o som|propaganda"),
  ar: word("دعاية|تلغرام|تليجرام"),
  fa: word("پیوند|پیوندها|آگهی|پاداش"),
  hi: word("फिर कोशिश|टेलीग्राम|पुरस्कार"),
  id: word("chat|pranala|imbalan"),
  tr: word("yeniden deneyin|ilan|mükâfat|mesajlaşma"),
  de: word("versuch es|noch einmal versuchen|versuche es noch einmal|Werbekunde|Anzeige|Prämie"),
  fr: word("chat|annonce|prime"),
  it: word("pubblicità|premio|inserzione"),
};

test.each(pageLanguages)("the texts in %s address the user in one way", (language) => {
  const other = otherAddress[language];
  expect(other ? [...textsOf(language).matchAll(other)].map(([found]) => found) : []).toEqual([]);
});

test.each(pageLanguages)("the texts in %s have one word for one thing", (language) => {
  const other = otherWords[language];
  expect(other ? [...textsOf(language).matchAll(other)].map(([found]) => found) : []).toEqual([]);
});

/** The key of a state or of a refusal is put together: `${state}.title`, `refused.${reason}`. */
function isSaid(key: string, code: string): boolean {
  const [first = "", last = ""] = key.split(".");
  const isOfState = code.includes(`}.${last}\``) && /^(title|text)$/.test(last) && namesIn(code).has(first);
  return code.includes(`"${key}"`) || isOfState || code.includes(`\`${first}.\${`);
}

/** The codes of refusals are written `CODE_USED`, their keys `code-used`. */
const namesIn = (code: string) =>
  new Set(
    [...code.matchAll(/"([\w-]+)"|\b([\w-]+):/g)].map(([, text, name]) =>
      (text ?? name ?? "").toLowerCase().replaceAll("_", "-"),
    ),
  );

test("the mini-app's code says each of its texts", () => {
  const files = globSync(["apps/miniapp/src/**/*.{ts,tsx}", "packages/ad-core/src/*.ts"], { cwd: root });
  const code = files
    .filter((file) => !/[/](locales|gallery|preview)[/]|[.]test[.]/.test(file))
    .map((file) => readFileSync(join(root, file), "utf8"))
    .join("\n");
  expect(Object.keys(en).filter((key) => !isSaid(key, code))).toEqual([]);
  expect(isSaid("nobody-says-this.title", code)).toBe(false);
  expect(isSaid("offer.unused", code)).toBe(false);
});

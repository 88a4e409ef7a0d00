import { readFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import type { LanguageTag } from "../apps/miniapp/src/locales/languages.ts";
import { pageLanguages } from "../packages/ad-core/src/page-language.ts";
import { root } from "../scripts/processes.ts";
import { expect, test } from "./stack.ts";

type Formats = typeof import("../apps/miniapp/src/locales/format-time.ts") &
  typeof import("../apps/miniapp/src/locales/translate.ts");

/** Everything that the app formats by the browser's data of a language. */
function formatAll({ formatDuration, formatMoment, createTranslator }: Formats, language: LanguageTag): string[] {
  const moments = Array.from({ length: 12 }, (_, month) => new Date(2030, month, 3, 9, 5));
  const { amount, parts } = createTranslator(language, { seconds: { other: "{count} s" } } as never);
  return [
    ...[0, 1000, 2000, 61_000, 299_000, 3_900_000, 36_300_000].map((ms) => formatDuration(ms, language)),
    ...moments.map((moment) => formatMoment(moment, new Date(2030, 0, 1), language)),
    formatMoment(new Date(2030, 0, 1, 9, 5), new Date(2030, 0, 1, 12), language),
    ...[0, 2, 11, 1234.5, 1_234_567].map((value) => amount({ amount: value })),
    ...parts("seconds", { count: 12_345 }).map(({ text }) => text),
    ...[0, 1, 2, 3, 5, 11, 21, 100].map((value) => new Intl.PluralRules(language).select(value)),
  ];
}

// Node has the data of all languages; a browser may have less, and then answers in English.
test("numbers, durations, times and plural forms are in the viewer's language in the browser, too", async ({
  page,
}) => {
  const [formats, translate] = ["format-time.ts", "translate.ts"].map((name) =>
    join(root, "apps/miniapp/src/locales", name),
  ) as [string, string];
  const files = [formats, translate];
  const addressOf = async (file: string, imports: Record<string, string> = {}) => {
    const source = stripTypeScriptTypes(await readFile(file, "utf8"));
    return `data:text/javascript,${encodeURIComponent(source.replace(/from "([@.][^"]+)"/g, (_, name) => `from "${imports[name]}"`))}`;
  };
  const pageLanguage = await addressOf(join(root, "packages/ad-core/src/page-language.ts"));
  const ofTranslate = await addressOf(translate, { "@intermission/ad-core/page-language": pageLanguage });
  const addresses = [await addressOf(formats, { "./translate.ts": ofTranslate }), ofTranslate];
  const modules = await Promise.all(files.map((file) => import(file)));
  const here: Formats = Object.assign({}, ...modules);
  for (const language of pageLanguages) {
    const inBrowser = await page.evaluate(
      `(async () => {
        const modules = await Promise.all(${JSON.stringify(addresses)}.map((address) => import(address)));
        return (${formatAll})(Object.assign({}, ...modules), ${JSON.stringify(language)});
      })()`,
    );
    expect(inBrowser, language).toEqual(formatAll(here, language as LanguageTag));
  }
});

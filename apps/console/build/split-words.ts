import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";
import type english from "../src/words/en.json";
import { languages } from "../src/words/languages.ts";

const source = fileURLToPath(new URL("../src/", import.meta.url));

/**
 * Each module that calls `loadWords` gets files with its sections only, one for each language: a screen loads its own words, in
 * one language. What is loaded later, such as a screen, is there once its words are.
 */
export function splitWords(): Plugin {
  return {
    name: "split-words",
    apply: "build",
    transform: {
      filter: { code: /\b(loadWords\(|import\("[.])/ },
      handler(code, id) {
        if (!id.startsWith(source)) return undefined;
        const split = withFiles(code).replaceAll(/\bimport\("[.][^"]+"\)/g, "withWords($&)");
        if (split === code) return undefined;
        const imported = split.includes("withWords(import(")
          ? `import { withWords } from "${source}words/word-files.ts";`
          : "";
        return { code: `${imported}${split}`, map: null };
      },
    },
    resolveId: {
      filter: { id: /^words:/ },
      handler: (id) => `\0${id}`,
    },
    load: {
      filter: { id: /^\0words:/ },
      handler(id) {
        const [language = "", sections = ""] = id.slice("\0words:".length).split("/");
        this.addWatchFile(fileOf(language));
        const catalog: Readonly<Record<string, unknown>> = catalogOf(language);
        const part = Object.fromEntries(sections.split("+").map((section) => [section, catalog[section]]));
        return { code: `export default ${JSON.stringify(part)}`, moduleType: "js" };
      },
    },
    transformIndexHtml: () =>
      languages.map((language) => ({
        tag: "template",
        attrs: { "data-words-failed": language },
        children: failure(language),
        injectTo: "body",
      })),
  };
}

const fileOf = (language: string) => `${source}words/${language}.json`;

function catalogOf(language: string): typeof english {
  return JSON.parse(readFileSync(fileOf(language), "utf8"));
}

/** What `main.tsx` shows if the first words cannot be loaded. */
function failure(language: string): string {
  const { failed, unreachable, retry } = catalogOf(language).ui;
  return `<main class="lone" lang="${language}"><div class="empty" role="alert"><h1>${failed}</h1><p class="secondary">${unreachable}</p><button type="button" class="button button-primary">${retry}</button></div></main>`;
}

/** The calls of a module share its files. */
function withFiles(code: string): string {
  const call = /\bloadWords\("(\w+)"\)/g;
  const sections = [...code.matchAll(call)].map(([, section]) => section).join("+");
  const files = languages.map((language) => `${language}: () => import("words:${language}/${sections}")`);
  return code.replaceAll(call, `loadWords("$1", { ${files.join(", ")} })`);
}

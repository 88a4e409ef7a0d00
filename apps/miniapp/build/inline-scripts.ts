import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { directionOf } from "@intermission/ad-core/page-language";
import { parse } from "acorn";
import { minify } from "terser";
import { build, type Plugin, transformWithOxc } from "vite";
import type * as Locales from "../src/locales/languages.ts";
import type { LanguageTag } from "../src/locales/languages.ts";
import { minifyScript } from "./minify-again.ts";
import { oldestBrowsers } from "./old-browsers.ts";

interface InlineScript {
  /** Its place in index.html is a comment with the file's name: `<!--early-start-->`. */
  readonly entry: string;
  readonly maxBytes: number;
  readonly compile: (entry: string, root: string) => Promise<string>;
}

/**
 * Inlines small classic scripts into the page, so that they run before any file arrives. They are type-checked and minified
 * like the other files; the server that serves the page allows them by their hashes in the content security policy.
 */
export function inlineScripts(scripts: readonly InlineScript[]): Plugin {
  let root = "";
  return {
    name: "inline-scripts",
    configResolved(config) {
      root = config.root;
    },
    transformIndexHtml: {
      order: "pre",
      async handler(html) {
        let page = html;
        for (const script of scripts) {
          const content = await inlined(script, root);
          const place = `<!--${/([\w-]+)\.ts$/.exec(script.entry)?.[1]}-->`;
          if (!page.includes(place)) throw new Error(`index.html has no ${place}`);
          // A function, because a replacement string would interpret "$&" in the script as a pattern.
          page = page.replace(place, () => `<script>${content}</script>`);
        }
        return page;
      },
    },
  };
}

async function inlined({ entry, maxBytes, compile }: InlineScript, root: string): Promise<string> {
  const script = (await compile(join(root, entry), root)).trim();
  const bytes = Buffer.byteLength(script);
  if (bytes > maxBytes) throw new Error(`${entry} is ${bytes} bytes inline, more than the limit of ${maxBytes}`);
  if (script.includes("</script"))
    throw new Error(`${entry} contains "</script", which would close its script element`);
  console.log(`inline ${entry}: ${bytes} bytes of ${maxBytes}`);
  return script;
}

/** A script with imports, for the browsers that the app supports. */
export async function bundled(entry: string): Promise<string> {
  const outputs = await build({
    configFile: false,
    logLevel: "warn",
    build: {
      write: false,
      target: oldestBrowsers.syntax,
      minify: true,
      modulePreload: false,
      lib: { entry, formats: ["iife"], name: "inlineScript", fileName: "inline-script" },
    },
  });
  const output = Array.isArray(outputs) ? outputs[0] : outputs;
  const chunk = output && "output" in output ? output.output[0] : undefined;
  if (chunk?.type !== "chunk") throw new Error(`${entry} was not bundled`);
  return minifyScript(chunk.code, "classic");
}

const wordsOfFailure = ["not-understood.title", "not-started.text", "action.tryAgain", "action.openBot"] as const;

/** A script without imports, written in ES5 for browsers that cannot run the app. Its `WORDS` are those of all languages. */
export async function inES5(entry: string, root: string): Promise<string> {
  // Loaded by Node, since Vite would bundle the dictionaries with its configuration.
  const locales: typeof Locales = await import(pathToFileURL(join(root, "src/locales/languages.ts")).href);
  const words: Record<string, string[]> = {};
  for (const tag of Object.keys(locales.languages) as LanguageTag[]) {
    const dictionary = await locales.loadDictionary(tag);
    words[tag] = [...wordsOfFailure.map((key) => String(dictionary[key])), directionOf(tag)];
  }
  const { code } = await transformWithOxc(await readFile(entry, "utf8"), entry);
  const options = { ecma: 5, compress: { passes: 3, global_defs: { "@WORDS": JSON.stringify(words) } } } as const;
  // In a function, since a classic script shares its names with the page.
  const script = (await minify(`(function () {${code}})();`, options)).code ?? "";
  parse(script, { ecmaVersion: 5 });
  return script;
}

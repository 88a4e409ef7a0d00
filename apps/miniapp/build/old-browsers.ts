import { parse } from "acorn";
import type { Plugin } from "vite";

/** The oldest web views of Telegram that the app supports: Android's of February 2020, and iOS 14. */
export const oldestBrowsers: { syntax: "es2020"; ecmaVersion: 2020; css: string[] } = {
  syntax: "es2020",
  ecmaVersion: 2020,
  css: ["chrome80", "safari14"],
};

/** Functions that these browsers lack, as they are called in a script. `src/old-browsers.ts` adds `Object.hasOwn`. */
const newerFunctions: readonly RegExp[] = [
  /\.(at|findLast|findLastIndex|toSorted|toReversed|toSpliced|replaceAll|replaceChildren|throwIfAborted)\(/,
  /\b(Promise\.(any|try|withResolvers)|Object\.groupBy|Map\.groupBy|Array\.fromAsync|AbortSignal\.(any|timeout))\(/,
  /\b(URL\.(canParse|parse)|crypto\.randomUUID|structuredClone|requestIdleCallback)\(/,
  /\bnew (WeakRef|FinalizationRegistry|AggregateError)\(/,
  // Groups that look behind: Safari 16.4.
  /\(\?<[=!]/,
];

/** What the CSS may not contain after its translation, and what replaces it. */
const newerStyles: readonly [RegExp, string][] = [
  [/[;{]inset(-block|-inline)?(-start|-end)?:/, "top, right, bottom, left"],
  [/:lang\(/, "a property with an older form: this one is translated to long lists of languages"],
  [/\d[sld]v[hw]\b/, "vh, vw"],
  [/:has\(/, "an attribute"],
  [/justify-content:(start|end)[;}]/, "flex-start, flex-end"],
];

/** Fails the build if it contains syntax, functions or styles that the oldest browsers lack. */
export function refuseNewerThan({ ecmaVersion }: typeof oldestBrowsers): Plugin {
  return {
    name: "refuse-newer-than",
    apply: "build",
    generateBundle(_, bundle) {
      for (const { fileName, ...file } of Object.values(bundle)) {
        if (file.type === "chunk") {
          parse(file.code, { ecmaVersion, sourceType: "module" });
          for (const newer of newerFunctions) refuse(fileName, file.code, newer, "polyfill it, or use an older one");
        } else if (fileName.endsWith(".css")) {
          for (const [newer, instead] of newerStyles) refuse(fileName, String(file.source), newer, `use ${instead}`);
        }
      }
    },
  };
}

function refuse(fileName: string, content: string, newer: RegExp, nextStep: string): void {
  const found = newer.exec(content);
  if (!found) return;
  const near = content.slice(Math.max(0, found.index - 60), found.index + 60);
  throw new Error(`${fileName} has ${found[0]}, which Chrome 80 or iOS 14 lacks: ${nextStep}\n  …${near}…`);
}

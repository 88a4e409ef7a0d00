import { gzipSync } from "node:zlib";
import type { Plugin, Rolldown } from "vite";

/**
 * Prints the gzip size of each screen's scripts, and fails the build if one screen needs more than the limit when it is opened
 * first: the entry, the screen's own file, all that both import, and the words of these, in the language that has most.
 */
export function limitFirstScreen({ maxKilobytes }: { maxKilobytes: number }): Plugin {
  return {
    name: "limit-first-screen",
    apply: "build",
    generateBundle(_, bundle) {
      const chunks = Object.values(bundle).filter((file) => file.type === "chunk");
      const entry = chunks.find((chunk) => chunk.isEntry);
      if (entry === undefined) throw new Error("the build has no entry");
      const screens = chunks.filter((chunk) => chunk.isDynamicEntry && languageOf(chunk) === undefined);
      for (const screen of [entry, ...screens]) {
        const files = closureOf([entry, screen], bundle);
        const kilobytes =
          sizeOf(files) + Math.max(0, ...[...Map.groupBy(wordsOf(files, bundle), languageOf).values()].map(sizeOf));
        console.log(`${screen.name.padEnd(44)} ${kilobytes.toFixed(1).padStart(7)} kB gzip of ${maxKilobytes}`);
        if (kilobytes <= maxKilobytes) continue;
        throw new Error(`${screen.name} needs ${kilobytes.toFixed(1)} kB of scripts, more than ${maxKilobytes} kB`);
      }
    },
  };
}

function sizeOf(files: readonly Rolldown.OutputChunk[]): number {
  return files.reduce((sum, { code }) => sum + gzipSync(code, { level: 9 }).byteLength, 0) / 1000;
}

/** Of a file of words, as `split-words.ts` makes them. */
function languageOf({ facadeModuleId }: Rolldown.OutputChunk): string | undefined {
  return /^\0words:([^/]+)/.exec(facadeModuleId ?? "")?.[1];
}

/** The files of words that these load, in every language. */
function wordsOf(files: readonly Rolldown.OutputChunk[], bundle: Rolldown.OutputBundle): Rolldown.OutputChunk[] {
  const names = new Set(files.flatMap(({ dynamicImports }) => dynamicImports));
  const loaded = [...names].flatMap((name) => bundle[name] ?? []).filter((file) => file.type === "chunk");
  return loaded.filter((chunk) => languageOf(chunk) !== undefined);
}

function closureOf(chunks: Rolldown.OutputChunk[], bundle: Rolldown.OutputBundle): Rolldown.OutputChunk[] {
  const found = new Set<Rolldown.OutputChunk>();
  const add = (chunk: Rolldown.OutputBundle[string] | undefined) => {
    if (chunk?.type !== "chunk" || found.has(chunk)) return;
    found.add(chunk);
    for (const name of chunk.imports) add(bundle[name]);
  };
  for (const chunk of chunks) add(chunk);
  return [...found];
}

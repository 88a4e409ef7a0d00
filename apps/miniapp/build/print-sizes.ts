import { gzipSync } from "node:zlib";
import type { Plugin } from "vite";

/**
 * Prints each script's gzip size and fails the build if the scripts of the first screen, or all scripts of one user, exceed
 * their limit. A user loads one language file of each folder, so the largest of each counts; the first screen's English is in the entry.
 */
export function printSizes({
  maxKilobytesToOffer,
  maxKilobytesOfScript,
  languages,
}: {
  maxKilobytesToOffer: number;
  maxKilobytesOfScript: number;
  /** Folders of language files; a user loads one file of each. */
  languages: readonly string[];
}): Plugin {
  return {
    name: "print-sizes",
    apply: "build",
    generateBundle(_, bundle) {
      let toOffer = 0;
      let ofAll = 0;
      const largest = new Map<string, number>();
      for (const file of Object.values(bundle)) {
        const content = file.type === "chunk" ? file.code : file.source;
        const bytes = gzipSync(content, { level: 9 }).byteLength;
        if (file.type === "chunk") {
          if (!file.isDynamicEntry) toOffer += bytes;
          const folder = languages.find((each) => file.isDynamicEntry && file.facadeModuleId?.includes(each));
          if (folder) largest.set(folder, Math.max(largest.get(folder) ?? 0, bytes));
          else ofAll += bytes;
        }
        print(file.fileName, bytes);
      }
      check("scripts up to the offer", toOffer, maxKilobytesToOffer);
      const ofLanguage = [...largest.values()].reduce((sum, bytes) => sum + bytes, 0);
      check("a user's scripts, with the largest language", ofAll + ofLanguage, maxKilobytesOfScript);
    },
  };
}

function check(name: string, bytes: number, limit: number): void {
  print(name, bytes, ` of ${limit}`);
  if (bytes <= limit * 1000) return;
  throw new Error(`${name} take ${inKilobytes(bytes)} kB gzip, more than the limit of ${limit} kB`);
}

function print(name: string, bytes: number, limit = ""): void {
  console.log(`${name.padEnd(44)} ${inKilobytes(bytes).padStart(7)} kB gzip${limit}`);
}

function inKilobytes(bytes: number): string {
  return (bytes / 1000).toFixed(1);
}

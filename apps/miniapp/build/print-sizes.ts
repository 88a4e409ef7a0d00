import { gzipSync } from "node:zlib";
import type { Plugin } from "vite";

/**
 * Prints each script's gzip size and fails the build if one user's scripts together exceed the limit. A user loads one
 * language file, so the largest of them counts.
 */
export function printSizes({
  mostKilobytesOfScript,
  languages,
}: {
  mostKilobytesOfScript: number;
  /** Folder of the language files; a user loads one of them. */
  languages: string;
}): Plugin {
  return {
    name: "print-sizes",
    apply: "build",
    generateBundle(_, bundle) {
      let ofAll = 0;
      let ofLargestLanguage = 0;
      for (const file of Object.values(bundle)) {
        const content = file.type === "chunk" ? file.code : file.source;
        const bytes = gzipSync(content, { level: 9 }).byteLength;
        if (file.type === "chunk") {
          if (file.isDynamicEntry && file.facadeModuleId?.includes(languages)) {
            ofLargestLanguage = Math.max(ofLargestLanguage, bytes);
          } else ofAll += bytes;
        }
        print(file.fileName, bytes);
      }
      const total = ofAll + ofLargestLanguage;
      print("a user's scripts, with the largest language", total, ` of ${mostKilobytesOfScript}`);
      if (total > mostKilobytesOfScript * 1000) {
        throw new Error(
          `scripts take ${inKilobytes(total)} kB gzip, more than the limit of ${mostKilobytesOfScript} kB`,
        );
      }
    },
  };
}

function print(name: string, bytes: number, limit = ""): void {
  console.log(`${name.padEnd(44)} ${inKilobytes(bytes).padStart(7)} kB gzip${limit}`);
}

function inKilobytes(bytes: number): string {
  return (bytes / 1000).toFixed(1);
}

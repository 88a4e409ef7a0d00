import { gzipSync } from "node:zlib";
import type { Plugin } from "vite";

/** Prints what each script costs on the wire and fails the build where all of them together cost too much. */
export function printSizes({ mostKilobytesOfScript }: { mostKilobytesOfScript: number }): Plugin {
  return {
    name: "print-sizes",
    apply: "build",
    generateBundle(_, bundle) {
      let total = 0;
      for (const file of Object.values(bundle)) {
        const content = file.type === "chunk" ? file.code : file.source;
        const bytes = gzipSync(content, { level: 9 }).byteLength;
        if (file.type === "chunk") total += bytes;
        console.log(`${file.fileName.padEnd(44)} ${inKilobytes(bytes).padStart(7)} kB gzip`);
      }
      console.log(`${"all scripts".padEnd(44)} ${inKilobytes(total).padStart(7)} kB gzip of ${mostKilobytesOfScript}`);
      if (total > mostKilobytesOfScript * 1000) {
        throw new Error(`scripts take ${inKilobytes(total)} kB gzip, ${mostKilobytesOfScript} kB are allowed`);
      }
    },
  };
}

function inKilobytes(bytes: number): string {
  return (bytes / 1000).toFixed(1);
}

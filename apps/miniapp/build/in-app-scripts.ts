import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Plugin } from "vite";
import { bundled } from "./inline-scripts.ts";

/** Builds the classic scripts that publishers put into their pages, and fails if one is larger than promised. */
export function inAppScripts(
  scripts: Readonly<Record<string, { readonly entry: string; readonly maxKilobytes: number }>>,
): Plugin {
  return {
    name: "in-app-scripts",
    apply: "build",
    async generateBundle() {
      for (const [fileName, { entry, maxKilobytes }] of Object.entries(scripts)) {
        const source = await bundled(join(import.meta.dirname, "..", entry));
        const kilobytes = gzipSync(source, { level: 9 }).byteLength / 1000;
        console.log(`${fileName}: ${kilobytes.toFixed(1)} kB gzip of ${maxKilobytes}`);
        if (kilobytes > maxKilobytes)
          throw new Error(`${entry} takes ${kilobytes} kB gzip, more than the limit of ${maxKilobytes} kB`);
        this.emitFile({ type: "asset", fileName: `assets/${fileName}`, source });
      }
    },
  };
}

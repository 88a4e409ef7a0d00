import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Plugin } from "vite";
import { bundled } from "./inline-scripts.ts";

/** Builds the classic script that publishers put into their pages, and fails if it is larger than promised. */
export function inAppScript(of: { entry: string; fileName: string; maxKilobytes: number }): Plugin {
  return {
    name: "in-app-script",
    apply: "build",
    async generateBundle() {
      const source = await bundled(join(import.meta.dirname, "..", of.entry));
      const kilobytes = gzipSync(source, { level: 9 }).byteLength / 1000;
      console.log(`${of.fileName}: ${kilobytes.toFixed(1)} kB gzip of ${of.maxKilobytes}`);
      if (kilobytes > of.maxKilobytes)
        throw new Error(`${of.entry} takes ${kilobytes} kB gzip, more than the limit of ${of.maxKilobytes} kB`);
      this.emitFile({ type: "asset", fileName: `assets/${of.fileName}`, source });
    },
  };
}

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { Plugin } from "vite";

const toBrotli = promisify(brotliCompress);
const toGzip = promisify(gzip);

/** Writes `.br` and `.gz` files beside each text file at maximum compression: the server sends those and never compresses. */
export function compress(): Plugin {
  return {
    name: "compress",
    apply: "build",
    // Files are final only here; in earlier hooks other plugins may still change them.
    async writeBundle({ dir = "" }, bundle) {
      let kilobytes = 0;
      for (const file of Object.values(bundle)) {
        if (!/\.(js|css|svg|json)$/.test(file.fileName)) continue;
        const content = Buffer.from(file.type === "chunk" ? file.code : file.source);
        const brotli = await toBrotli(content, {
          params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.byteLength },
        });
        kilobytes += brotli.byteLength / 1000;
        await writeFile(join(dir, `${file.fileName}.br`), brotli);
        await writeFile(join(dir, `${file.fileName}.gz`), await toGzip(content, { level: 9 }));
      }
      console.log(`${"all files".padEnd(44)} ${kilobytes.toFixed(1).padStart(7)} kB brotli`);
    },
  };
}

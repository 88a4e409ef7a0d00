import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";

export interface FileSize {
  readonly name: string;
  readonly gzip: number;
  readonly brotli: number;
}

/** The compressed size of each file of the built mini-app, and the uncompressed size of each inline script. */
export function fileSizes(buildFolder: string): { files: FileSize[]; inlineBytes: number[] } {
  const page = readFileSync(join(buildFolder, "index.html"), "utf8");
  const inline = [...page.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, text = ""]) => text);
  const assets = readdirSync(join(buildFolder, "assets")).filter((name) => /\.(js|css)$/.test(name));
  const files = ["index.html", ...assets.map((name) => join("assets", name))].map((name) => {
    const content = readFileSync(join(buildFolder, name));
    return {
      name,
      gzip: gzipSync(content, { level: 9 }).byteLength,
      brotli: brotliCompressSync(content).byteLength,
    };
  });
  return { files, inlineBytes: inline.map((text) => Buffer.byteLength(text)) };
}

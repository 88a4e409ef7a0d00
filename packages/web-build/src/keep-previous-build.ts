import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Plugin } from "vite";

/** The names of a build's own files, beside them: what else is there belongs to the build before it. */
const LIST = "build-files.json";

/**
 * Keeps the files of the previous build beside the new ones. Pages that users have open name them, and so does the page of a
 * server that was not restarted yet. Those of earlier builds are removed.
 */
export function keepPreviousBuild(): Plugin {
  let assets = "";
  let previous = new Map<string, Buffer>();
  return {
    name: "keep-previous-build",
    apply: "build",
    configResolved(config) {
      assets = join(config.root, config.build.outDir, config.build.assetsDir);
    },
    // Before Vite empties the folder.
    async buildStart() {
      previous = await ownFilesOf(assets);
    },
    async closeBundle() {
      await mkdir(assets, { recursive: true });
      const own = (await readdir(assets)).filter((name) => name !== LIST);
      if (own.length === 0) return;
      for (const [name, bytes] of previous) if (!own.includes(name)) await writeFile(join(assets, name), bytes);
      await writeFile(join(assets, LIST), JSON.stringify(own));
    },
  };
}

async function ownFilesOf(assets: string): Promise<Map<string, Buffer>> {
  const names = await readdir(assets).catch((): string[] => []);
  const list = await readFile(join(assets, LIST), "utf8").catch(() => undefined);
  const own: string[] = list === undefined ? names : JSON.parse(list);
  const kept = own.filter((name) => name !== LIST && names.includes(name));
  return new Map(await Promise.all(kept.map(async (name) => [name, await readFile(join(assets, name))] as const)));
}

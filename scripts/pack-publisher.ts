import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root, runCommand } from "./processes.ts";

const sources = "packages/{publisher,ad-core,server}/{src/**,package.json,README.md,tsdown.config.ts}";

/**
 * Packs the TypeScript package, which is in no registry, as a file that npm installs; unless it is newer than its sources.
 * Returns the file.
 */
export async function packPublisher(dataDirectory: string): Promise<string> {
  const file = join(dataDirectory, "intermission-publisher.tgz");
  const changedAt = Math.max(...globSync(sources, { cwd: root }).map((name) => statSync(join(root, name)).mtimeMs));
  if (existsSync(file) && statSync(file).mtimeMs > changedAt) return file;
  const { packageManager } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const folder = mkdtempSync(join(tmpdir(), "intermission-pack-"));
  try {
    const words = ["--filter", "@intermission/publisher", "pack", "--pack-destination", folder];
    await runCommand("npx", ["--yes", "--prefer-offline", packageManager, ...words], { isGroup: true });
    const [name = ""] = readdirSync(folder);
    mkdirSync(dataDirectory, { recursive: true });
    copyFileSync(join(folder, name), file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return file;
}

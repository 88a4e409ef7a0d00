/**
 * Writes the project's address into the metadata of the published packages: repository, homepage and bugs of
 * `packages/publisher`, and the project URLs of `clients/python`. The release workflow runs it with the address of the
 * repository that it runs in, before it packs: `node scripts/write-project-address.ts https://host/owner/repository`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./processes.ts";

export interface ProjectAddress {
  readonly repository: string;
  readonly issues: string;
  /** The page of a folder. */
  pageOf(folder: string): string;
}

/** Throws if this is no address of a repository. */
export function readAddress(text: string): ProjectAddress {
  const repository = text.trim().replace(/\.git$|\/+$/g, "");
  if (!/^https:\/\/[\w.-]+\.\w+(\/[\w.-]+){2,}$/.test(repository))
    throw new Error(`"${text}" is not the address of a repository, such as https://host/owner/repository`);
  return { repository, issues: `${repository}/issues`, pageOf: (folder) => `${repository}/tree/main/${folder}` };
}

/** A package.json with the address, in the place that npm's own order gives it: behind the keywords. */
export function addressedPackage(text: string, address: ProjectAddress, folder: string): string {
  const { name, version, description, keywords, ...others } = JSON.parse(text);
  const { repository: _old, homepage: _page, bugs: _bugs, ...rest } = others;
  const repository = { type: "git", url: `git+${address.repository}.git`, directory: folder };
  const homepage = `${address.pageOf(folder)}#readme`;
  const fields = { name, version, description, keywords, homepage, bugs: { url: address.issues }, repository, ...rest };
  return `${JSON.stringify(fields, null, 2)}\n`;
}

/** A pyproject.toml with the address. */
export function addressedProject(text: string, address: ProjectAddress, folder: string): string {
  const without = text.replace(/^\[project\.urls\]\n(?:.+\n)*\n?/m, "").trimEnd();
  const urls = {
    Homepage: address.pageOf(folder),
    Repository: address.repository,
    Issues: address.issues,
    Changelog: `${address.repository}/blob/main/CHANGELOG.md`,
  };
  const lines = Object.entries(urls).map(([name, url]) => `${name} = "${url}"`);
  return `${without}\n\n[project.urls]\n${lines.join("\n")}\n`;
}

if (import.meta.main) {
  const address = readAddress(process.argv[2] ?? "");
  for (const [file, write] of [
    ["packages/publisher/package.json", addressedPackage],
    ["clients/python/pyproject.toml", addressedProject],
  ] as const) {
    const path = join(root, file);
    writeFileSync(path, write(readFileSync(path, "utf8"), address, file.replace(/\/[^/]+$/, "")));
    console.log(`${file} has the address ${address.repository}`);
  }
}

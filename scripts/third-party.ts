import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Problem } from "./say.ts";

interface BundledPackage {
  readonly name: string;
  readonly version: string;
  /** The SPDX expression of its manifest. */
  readonly license: string;
  /** The texts of its licence and notice. */
  readonly texts: readonly string[];
}

/** The folder of the package that a module belongs to; undefined for our own modules. */
export function packageFolderOf(moduleId: string): string | undefined {
  return /^.*\/node_modules\/(?:@[^/]+\/)?[^/@.][^/]*(?=\/)/.exec(moduleId.replace(/^\0/, ""))?.[0];
}

/** The notices of all packages that modules of a bundle come from: most licences require their text beside each copy. */
export function thirdPartyNotices(moduleIds: Iterable<string>): string {
  const folders = new Set([...moduleIds].flatMap((id) => packageFolderOf(id) ?? []));
  const found = new Map(
    [...folders].map((folder) => readPackage(folder)).map((one) => [`${one.name} ${one.version}`, one]),
  );
  const sections = [...found.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([title, { license, texts }]) => [`${title} (${license})`, ...texts].join("\n\n"));
  const line = `\n\n${"-".repeat(80)}\n\n`;
  return `${["This program contains the following packages.", ...sections].join(line)}\n`;
}

function readPackage(folder: string): BundledPackage {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  if (typeof license !== "string") {
    throw new Problem(
      `${folder} names no licence in its package.json.`,
      "Find out whether it may be copied; else replace the package.",
    );
  }
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file));
  return { name, version, license, texts: files.map((file) => readFileSync(join(folder, file), "utf8").trim()) };
}

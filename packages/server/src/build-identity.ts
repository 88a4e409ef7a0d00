import { execFileSync } from "node:child_process";
import { join } from "node:path";

/** Replaced by the build with what `readSource` returned there. */
declare const BUILT_FROM: Source | undefined;

/** What a program was made from. */
interface Source {
  /** Ten digits of the commit, with `-dirty` where files differ from it; null where git or its repository is missing. */
  readonly commit: string | null;
  /** The day of the commit, as 2026-11-28. */
  readonly date: string | null;
}

const unknown: Source = { commit: null, date: null };

/** The version that logs, `/readyz`, metrics and stores name: `0.1.0+83c455be20`, or `0.1.0+83c455be20-dirty`. A clone asks git each time. */
export function buildVersion(version: string): string {
  const { commit } = sourceOfBuild();
  return commit === null ? version : `${version}+${commit}`;
}

/** The version of a command line, with the day of its commit. Only read where it is printed: git takes some 30 ms. */
export function versionForCommand(version: string, words: readonly string[] = process.argv): string {
  if (!words.includes("--version") && !words.includes("-V")) return version;
  const { date } = sourceOfBuild();
  return date === null ? buildVersion(version) : `${buildVersion(version)} (${date})`;
}

function sourceOfBuild(): Source {
  return typeof BUILT_FROM === "undefined" ? readSource(join(import.meta.dirname, "../../..")) : BUILT_FROM;
}

/**
 * Reads the commit of a clone. A build without a repository, such as that of an image, takes it from `BUILD_COMMIT`. A folder
 * inside of another project's repository has none.
 */
export function readSource(folder: string, env: NodeJS.ProcessEnv = process.env): Source {
  if (env.BUILD_COMMIT) return { commit: env.BUILD_COMMIT.replaceAll(/[^\w.-]/g, ""), date: null };
  try {
    if (git(folder, "rev-parse", "--show-prefix") !== "") return unknown;
    const [commit = "", date = ""] = git(folder, "log", "-1", "--abbrev=10", "--format=%h %cs").split(" ");
    const isDirty = git(folder, "status", "--porcelain", "--untracked-files=no") !== "";
    return { commit: `${commit}${isDirty ? "-dirty" : ""}`, date };
  } catch {
    return unknown;
  }
}

function git(folder: string, ...words: readonly string[]): string {
  // It takes no lock that a developer's own git would wait for.
  return execFileSync("git", ["--no-optional-locks", "-C", folder, ...words], {
    encoding: "utf8",
    timeout: 3000,
    stdio: ["ignore", "pipe", "ignore"],
  }).trim();
}

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** The Node binaries that can run the package, by major version: this process's, and others on the path. */
export async function nodeVersions(): Promise<[version: string, binary: string][]> {
  const binaries = [process.execPath, ...(process.env.PATH ?? "").split(delimiter).map((path) => join(path, "node"))];
  const found = new Map<string, string>();
  for (const binary of binaries.filter((path) => existsSync(path))) {
    const [major = "", minor = ""] = (await run(binary, ["-p", "process.versions.node"])).stdout.trim().split(".");
    if (Number(major) * 100 + Number(minor) >= 2003 && !found.has(major)) found.set(major, binary);
  }
  return [...found];
}

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root, runCommand } from "../scripts/processes.ts";

export interface Baseline {
  readonly name: string;
  /** Of its sources, with packages of its own. */
  readonly root: string;
  remove(): void;
}

/** An older revision in a temporary folder, ready to run, so that both are measured in one run. */
export async function unpackBaseline(revision: string): Promise<Baseline> {
  const commit = execFileSync("git", ["rev-parse", "--short", `${revision}^{commit}`], { cwd: root, encoding: "utf8" });
  const folder = mkdtempSync(join(tmpdir(), "intermission-baseline-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once("exit", remove);
  const archive = execFileSync("git", ["archive", commit.trim()], { cwd: root, maxBuffer: 1024 ** 3 });
  execFileSync("tar", ["-x", "-C", folder], { input: archive });
  await runCommand(process.execPath, [join(folder, "scripts/set-up.mjs"), "scripts/say.ts"]);
  return { name: commit.trim(), root: folder, remove };
}

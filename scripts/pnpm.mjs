// `./pnpm <words>` runs pnpm at this repository's version and on its Node, even if only an older Node and npm are installed.
// A script of package.json that begins with set-up.mjs runs without pnpm: only its own output is printed, so that programs
// can read `./pnpm ads … --json`. `./pnpm node <file>` runs a file on that Node.
// This file is plain JavaScript, because an old Node has to run it.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const [first = "--help", ...rest] = process.argv.slice(2);
const [word, ...others] = first === "run" ? rest : [first, ...rest];
const [, ownWords] = /^exec node scripts\/set-up\.mjs (.+)$/.exec(scripts[word] ?? "") ?? [];

function setUpWords() {
  if (ownWords !== undefined)
    return [...ownWords.split(" "), ...others.filter((other, index) => other !== "--" || index > 0)];
  if (word === "node") return ["--quiet", ...others];
  return ["--quiet", "scripts/run-pnpm.ts", first, ...rest];
}

const child = spawn(process.execPath, [join(root, "scripts/set-up.mjs"), ...setUpWords()], { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));

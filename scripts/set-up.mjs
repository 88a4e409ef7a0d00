// Runs a script of this repository on a machine that has only git, Node 20 and npm:
// installs Node 24 if the system's is older, installs the packages, then runs the script.
// This file is plain JavaScript, because an old Node has to run it.
//   node scripts/set-up.mjs [--quiet] [--servers] <script.ts> [arguments…]
// --servers: the script needs only what runs and builds the servers and their pages, a third of all packages.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const neededMajor = 24;
const broughtNode = "24.21.0";
const words = process.argv.slice(2);
const firstWord = words.findIndex((word) => word !== "--quiet" && word !== "--servers");
const options = words.slice(0, firstWord);
const [script, ...scriptArguments] = words.slice(firstWord);
const isQuiet = options.includes("--quiet");
const isForServers = options.includes("--servers");

function fail(message, nextStep) {
  console.error(`\n✗ ${message}\n  ${nextStep}`);
  process.exit(1);
}

function step(title, work) {
  const startedAt = Date.now();
  if (!isQuiet && process.stdout.isTTY) process.stdout.write(`… ${title}`);
  const detail = work();
  if (isQuiet) return;
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  if (process.stdout.isTTY) process.stdout.write("\r\x1b[2K");
  console.log(`✓ ${title}${detail ? ` — ${detail}` : ""} (${seconds} s)`);
}

function run(command, commandArguments, env, nextStep) {
  const result = spawnSync(command, commandArguments, {
    cwd: root,
    env,
    encoding: "utf8",
    shell: process.platform === "win32",
    maxBuffer: 64 * 1024 * 1024,
  });
  if (result.status === 0) return;
  const output = `${result.stdout ?? ""}${result.stderr ?? ""}${result.error?.message ?? ""}`.trim();
  fail(`${command} ${commandArguments.join(" ")} failed:\n${output}`, nextStep);
}

function nodeBinary() {
  if (Number(process.versions.node.split(".")[0]) >= neededMajor) return process.execPath;
  const platform = process.platform === "win32" ? "win" : process.platform;
  const name = `node-${platform}-${process.arch}`;
  const folder = join(root, ".toolchain");
  const binary = join(folder, "node_modules", name, "bin", process.platform === "win32" ? "node.exe" : "node");
  const versionFile = join(folder, "version");
  if (existsSync(binary) && existsSync(versionFile) && readFileSync(versionFile, "utf8") === broughtNode) return binary;
  step(`Node ${broughtNode} (this system has ${process.versions.node})`, () => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
    run(
      "npm",
      ["install", "--prefix", folder, "--no-save", "--no-audit", "--no-fund", `${name}@${broughtNode}`],
      process.env,
      `Install Node ${neededMajor} or newer yourself, then run the same command again.`,
    );
    writeFileSync(versionFile, broughtNode);
    return "";
  });
  return binary;
}

function installPackages(env) {
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const lockfile = readFileSync(join(root, "pnpm-lock.yaml"));
  const workspace = readFileSync(join(root, "pnpm-workspace.yaml"));
  const stamp = createHash("sha256").update(lockfile).update(workspace).update(env.INTERMISSION_NODE).digest("hex");
  const stampFile = join(root, "node_modules", ".intermission-set-up");
  const [installed, installedSet] = existsSync(stampFile) ? readFileSync(stampFile, "utf8").split(" ") : [];
  if (installed === stamp && (isForServers || installedSet === undefined)) return;
  // The root's `dependencies` are what the scripts of a start need, and what the publisher's package needs to be built.
  // Packages that are there already are kept: whoever ran the tests once gets all packages from then on.
  const isPart = isForServers && (installedSet !== undefined || !existsSync(join(root, "node_modules")));
  step("packages", () => {
    run(
      "npx",
      [
        ...["--yes", "--prefer-offline", manifest.packageManager, "install", "--frozen-lockfile", "--prefer-offline"],
        ...(isPart ? ["--prod", "--filter-prod", "{./apps/*}..."] : []),
      ],
      { ...env, CI: "true" },
      "Check the network and the disk, then run the same command again.",
    );
    // The embedded PostgreSQL's libraries need links, which its install script would make; this folder may be read-only later.
    // Where it is missing, the servers say so.
    const link =
      "import('./packages/postgres/src/postgres-programs.ts').then((m) => m.postgresPrograms()).catch(() => {})";
    run(
      env.INTERMISSION_NODE,
      ["-e", link],
      env,
      "Check that node_modules is writable, then run the same command again.",
    );
    writeFileSync(stampFile, isPart ? `${stamp} servers` : stamp);
    return manifest.packageManager;
  });
}

if (!script) fail("The script's path is missing.", "The scripts of package.json call this file with one.");
const node = nodeBinary();
const env = {
  ...process.env,
  // Servers and commands start in half the time with cached compiled sources.
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(root, "node_modules", ".cache", "node"),
  INTERMISSION_NODE: node,
  PATH: [dirname(node), join(root, "node_modules", ".bin"), process.env.PATH ?? ""].join(delimiter),
};
installPackages(env);

// A Ctrl-C at a terminal reaches the child, too. A signal sent to npm alone reaches only this process (thanks to `exec` in
// package.json; a shell in between would not pass it on), which forwards it. The child treats a repeated signal as one.
// Neither it nor this process opens the inspector on SIGUSR1: both have keys in their environment.
process.on("SIGUSR1", () => {});
const child = spawn(node, ["--disable-sigusr1", join(root, script), ...scriptArguments], { stdio: "inherit", env });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));

// If npm is killed, it sends no signal to its children: stop the child when the parent is gone.
if (process.env.npm_lifecycle_event) {
  const parent = process.ppid;
  const asking = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(asking);
    child.kill("SIGTERM");
  }, 500);
}

/**
 * Makes the usual changes in a copy of the project, follows the compiler and the tests, and says how many files each takes and which
 * of them could be forgotten: `node scripts/plant-changes.ts`, or for the changes whose names contain one of the words,
 * `node scripts/plant-changes.ts measure role`.
 */
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Guard, type PlantedChange, type PlantedFile, plantedChanges, plantedFormat } from "./planted-changes.ts";
import { root } from "./processes.ts";

interface CountedChange {
  readonly name: string;
  /** The catalogs of all languages are one. */
  readonly files: number;
  readonly maxFiles: number;
  /** Files whose absence nothing notices. */
  readonly silent: readonly string[];
}

interface CountedChanges {
  readonly changes: readonly CountedChange[];
  /** What fails although every file of every change is there. */
  readonly faults: readonly string[];
  /** The files that the compiler names for another format. */
  readonly filesOfFormat: readonly string[];
}

const projects = ["tsconfig.servers.json", "apps/console", "."];

export function countChanges(changes: readonly PlantedChange[] = plantedChanges): CountedChanges {
  const folder = copyProject();
  try {
    const originals = new Map<string, string | undefined>();
    const all = changes.flatMap(({ word, files }) => files.map((file) => ({ ...file, word })));
    writeFiles(folder, [...all, ...migrationsOfOthers(changes)], originals);
    run(folder, [process.execPath, "scripts/check-words.ts", "--write"]);
    const faults = faultsOf(folder, all);
    const silent = silentFiles(folder, all, originals);
    for (const file of originals.keys()) restore(folder, file, originals);
    return {
      changes: changes.map(({ name, word, maxFiles, files }) => {
        const catalogs = files.filter(({ file }) => /words[/](en|ru)[.]json$/.test(file)).length;
        const ofChange = silent.filter((file) => file.word === word);
        return {
          name,
          maxFiles,
          files: files.length - Math.max(0, catalogs - 1),
          silent: ofChange.map(({ file }) => file),
        };
      }),
      faults,
      filesOfFormat: filesOfFormat(folder),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Migrations are numbered without gaps, so changes that are not made get empty ones. */
function migrationsOfOthers(changes: readonly PlantedChange[]): PlantedFile[] {
  const others = plantedChanges.filter((change) => !changes.includes(change)).flatMap(({ files }) => files);
  return others.flatMap(({ file, forgotten }) => (forgotten === undefined ? [] : { file, write: () => forgotten }));
}

type WordedFile = PlantedFile & { readonly word: string };
type Originals = Map<string, string | undefined>;

/** Copies the project as it stands, and links its packages, which nothing changes. */
function copyProject(): string {
  const folder = mkdtempSync(join(tmpdir(), "planted-changes-"));
  const { stdout } = spawnSync("git", ["ls-files", "-co", "--exclude-standard"], { cwd: root, encoding: "utf8" });
  const files = stdout.split("\n").filter((file) => file !== "" && existsSync(join(root, file)));
  for (const file of files) cpSync(join(root, file), join(folder, file));
  for (const manifest of files.filter((file) => /(^|[/])package[.]json$/.test(file))) {
    const place = join(dirname(manifest), "node_modules");
    linkTree(join(root, place), join(folder, place));
  }
  symlinkSync(join(root, ".toolchain"), join(folder, ".toolchain"));
  return folder;
}

function linkTree(from: string, to: string): void {
  if (!existsSync(from)) return;
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.name === ".cache" || entry.name === ".vite") continue;
    if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    else if (entry.isDirectory()) linkTree(source, target);
    else linkOrCopy(source, target);
  }
}

function linkOrCopy(source: string, target: string): void {
  try {
    linkSync(source, target);
  } catch {
    // The folder for temporary files may be on another disk.
    cpSync(source, target);
  }
}

function writeFiles(folder: string, files: readonly PlantedFile[], originals: Originals): void {
  for (const { file, from = file, write } of files) {
    const path = join(folder, file);
    if (!originals.has(file)) originals.set(file, existsSync(path) ? readFileSync(path, "utf8") : undefined);
    mkdirSync(dirname(path), { recursive: true });
    const before = existsSync(join(folder, from)) ? readFileSync(join(folder, from), "utf8") : "";
    writeFileSync(path, write(before));
  }
}

function restore(folder: string, file: string, originals: Originals): void {
  const text = originals.get(file);
  if (text === undefined) rmSync(join(folder, file), { force: true });
  else writeFileSync(join(folder, file), text);
}

function run(folder: string, [program = "", ...words]: readonly string[]): { isPassed: boolean; output: string } {
  const env = { ...process.env, NO_COLOR: "1", FORCE_COLOR: "0" };
  const { status, stdout, stderr } = spawnSync(program, words, { cwd: folder, encoding: "utf8", env, maxBuffer: 1e8 });
  return { isPassed: status === 0, output: `${stdout}${stderr}` };
}

function runGuard(folder: string, guard: Guard) {
  const bin = (name: string) => join(folder, "node_modules/.bin", name);
  if ("test" in guard) return run(folder, [bin("vitest"), "run", guard.test]);
  if ("check" in guard) return run(folder, [process.execPath, guard.check]);
  const info = join(folder, `${guard.types.replaceAll("/", "-")}.tsbuildinfo`);
  const incremental = ["--incremental", "--tsBuildInfoFile", info];
  return run(folder, [
    bin("tsc"),
    "--noEmit",
    "--checkers",
    "1",
    "--pretty",
    "false",
    "-p",
    guard.types,
    ...incremental,
  ]);
}

const keyOf = (guard: Guard) => JSON.stringify(guard);

function guardsOf(files: readonly PlantedFile[]): Guard[] {
  const guards = files.flatMap(({ noticedBy }) => noticedBy ?? []);
  return [...new Map(guards.map((guard) => [keyOf(guard), guard])).values()];
}

/** With all files: of the compiler, and of each test and check that would notice one. */
function faultsOf(folder: string, files: readonly PlantedFile[]): string[] {
  const guards = guardsOf(files);
  const checks = guards.filter((guard) => "check" in guard);
  const results = [...projects.map((types) => ({ types })), ...checks].map((guard) => runGuard(folder, guard));
  const tests = guards.flatMap((guard) => ("test" in guard ? guard.test : []));
  // Without words, Vitest would run all tests.
  const ofTests = tests.length === 0 ? [] : [run(folder, [join(folder, "node_modules/.bin/vitest"), "run", ...tests])];
  return [...results, ...ofTests].flatMap(({ isPassed, output }) => (isPassed ? [] : output.trim().slice(-8000)));
}

/**
 * The files that their guards do not miss. One file of each change is left out at a time, those with the same guard together: what it
 * says has to name the change's word.
 */
function silentFiles(folder: string, files: readonly WordedFile[], originals: Originals): WordedFile[] {
  return guardsOf(files).flatMap((guard) => {
    const guarded = files.filter(({ noticedBy }) => noticedBy !== undefined && keyOf(noticedBy) === keyOf(guard));
    const byWord = [...Map.groupBy(guarded, ({ word }) => word).values()];
    const rounds = Math.max(...byWord.map(({ length }) => length));
    return Array.from({ length: rounds }, (_, round) => byWord.flatMap((ofWord) => ofWord[round] ?? [])).flatMap(
      (left) => {
        for (const { file, forgotten } of left) {
          if (forgotten === undefined) restore(folder, file, originals);
          else writeFileSync(join(folder, file), forgotten);
        }
        const others = files.filter(({ file, word }) => left.some((one) => one.file === file && one.word !== word));
        writeFiles(
          folder,
          others.filter((one) => !left.includes(one)),
          originals,
        );
        const { isPassed, output } = runGuard(folder, guard);
        for (const { file } of left) restore(folder, file, originals);
        const touched = files.filter(({ file }) => left.some((one) => one.file === file));
        writeFiles(folder, touched, originals);
        return left.filter(({ word }) => isPassed || !output.includes(word));
      },
    );
  });
}

function filesOfFormat(folder: string): string[] {
  writeFiles(folder, plantedFormat, new Map());
  const named = projects.flatMap((types) =>
    [...runGuard(folder, { types }).output.matchAll(/^(\S+?)\(\d+,\d+\): error/gm)].map(([, file = ""]) => file),
  );
  return [...new Set(named)].toSorted();
}

if (import.meta.main) {
  const words = process.argv.slice(2);
  const chosen = plantedChanges.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
  if (chosen.length === 0)
    throw new Error(`no change has such a name: ${plantedChanges.map(({ name }) => name).join(", ")}`);
  const { changes, faults, filesOfFormat: files } = countChanges(chosen);
  for (const { name, files: count, maxFiles, silent } of changes) {
    console.log(`${name}: ${count} files (at most ${maxFiles}), silent: ${silent.length}`);
    for (const file of silent) console.log(`  silent: ${file}`);
  }
  console.log(`a format: ${plantedFormat.length} files, and the compiler names ${files.length}`);
  for (const file of files) console.log(`  ${file}`);
  for (const fault of faults) console.log(`\nwith all files: ${fault}`);
}

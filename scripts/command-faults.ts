import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { help as publisherHelp } from "../packages/publisher/src/cli/run-cli.ts";
import { commandPrograms, type Program } from "./command-programs.ts";
import { root } from "./processes.ts";
import { readStartOptions } from "./start-options.ts";

/** A word that stands for another: `<id>`, `{bot id}`, `ad_…`, `pay|hold`, `$token`. */
const isPlaceholder = (word: string) => /[<>{}…|$]/.test(word);

const programs = commandPrograms();

interface Manifest {
  readonly name?: string;
  readonly scripts?: Readonly<Record<string, string>>;
}
const readManifest = (file: string): Manifest => JSON.parse(readFileSync(join(root, file), "utf8"));
const rootScripts = readManifest("package.json").scripts ?? {};
const packages = globSync("{apps,packages,examples,docs}{,/*}/package.json", { cwd: root }).map(readManifest);

/**
 * What is wrong with a command of ours, as documentation shows it: a command, an option or an argument that does not exist;
 * if `isComplete`, one that is missing. Undefined for a correct command, and for one that is not ours.
 */
export function commandFault(
  words: readonly string[],
  { isComplete }: { readonly isComplete: boolean },
): string | undefined {
  const [first = "", second = "", ...rest] = words;
  const program = first.replace(/^(\.\/|\.\.\/intermission\/)(?=pnpm$)/, "");
  const unpublished = unpublishedName(words);
  if (unpublished !== undefined)
    return `${unpublished} is in no registry: whoever takes the name there gets the reader's secrets`;
  if (program === "npm") {
    const passed = rest[0] === "--" ? rest.slice(1) : rest;
    if (second === "start") return startFault(passed);
    if (second === "run")
      return scriptFault(
        rest.filter((word) => !/^(-s|--silent|--)$/.test(word)),
        isComplete,
      );
    return ["test", "install", "init", "pkg"].includes(second) ? undefined : `npm has no command ${second} here`;
  }
  if (program !== "pnpm" || second === "" || isPlaceholder(second)) return undefined;
  if (second === "node") return existsSync(join(root, rest[0] ?? "")) ? undefined : `${rest[0]} does not exist`;
  if (second === "--filter") return packageFault(rest);
  return scriptFault([second, ...rest], isComplete);
}

const installers = /^(npx|npm|pnpm|yarn|bun|bunx|deno|pip3?|pipx|uv|uvx|poetry|go|composer)$/;
const names =
  /^(npm:)?(@intermission\/[\w-]+|intermission-publisher|intermission[-_]ads)(\[[\w,]+\])?([@=<>~^][^/]*)?$/;

/** The name of ours for which a command asks a registry: none of them is published yet. A path is none. */
function unpublishedName([first = "", ...words]: readonly string[]): string | undefined {
  if (!installers.test(first) || words.includes("--filter")) return undefined;
  return words.find((word) => names.test(word.replaceAll(/^['"]|['"]$/g, "")));
}

/** `npm run ads bots list`, for example. */
function scriptFault([script = "", ...rest]: readonly string[], isComplete: boolean): string | undefined {
  if (script === "doctor") return publisherFault(["doctor", ...rest]);
  if (script === "publisher") return publisherFault(rest);
  if (script === "ads" || script === "api") return programFault(programs[script], rest, isComplete);
  const isKnown = Object.hasOwn(rootScripts, script) || existsSync(join(root, "node_modules/.bin", script));
  return isKnown || script === "install" ? undefined : `there is no script ${script}`;
}

function packageFault([name = "", script = ""]: readonly string[]): string | undefined {
  const manifest = packages.find((one) => one.name === name);
  if (manifest === undefined) return `there is no package ${name}`;
  const isKnown = Object.hasOwn(manifest.scripts ?? {}, script) || ["pack", "publish"].includes(script);
  return isKnown ? undefined : `${name} has no script ${script}`;
}

function startFault(words: readonly string[]): string | undefined {
  try {
    readStartOptions(
      words.map((word) => (isPlaceholder(word) ? "1" : word)),
      {},
    );
    return undefined;
  } catch (error) {
    return String(error);
  }
}

function publisherFault([command = "", ...rest]: readonly string[]): string | undefined {
  const known = [command, ...rest.filter((word) => word.startsWith("--"))];
  const unknown = known.find((word) => !publisherHelp.split(/[\s,]+/).includes(word));
  return unknown === undefined ? undefined : `@intermission/publisher has no ${unknown}`;
}

function programFault(program: Program, words: readonly string[], isComplete: boolean): string | undefined {
  let command = program;
  let index = 0;
  while (command.commands.length > 0 && index < words.length && !words[index]?.startsWith("-")) {
    const names = words[index]?.split("|") ?? [];
    if (isPlaceholder(names[0] ?? "")) return undefined;
    const found = names.map((name) => command.commands.find((one) => one.name() === name));
    const missing = names.find((_name, at) => found[at] === undefined);
    if (missing !== undefined) return `${command.name()} has no command ${missing}`;
    command = found[0] ?? command;
    index += 1;
  }
  const { fault, passedFlags, positionals } = readWords(program, command, words.slice(index));
  if (fault !== undefined || !isComplete || passedFlags.has("--help")) return fault;
  if (command.commands.length > 0) return `${command.name()} needs a command`;
  const option = command.options.find(({ mandatory, long }) => mandatory && !passedFlags.has(long ?? ""));
  if (option) return `${option.long} is missing`;
  const argument = command.registeredArguments[positionals];
  return argument?.required ? `<${argument.name()}> is missing` : undefined;
}

/** Checks the options and arguments of a command, and the values that are not placeholders. */
function readWords(program: Program, command: Program, words: readonly string[]) {
  const passedFlags = new Set<string>();
  let positionals = 0;
  const result = (fault?: string) => ({ fault, passedFlags, positionals });
  for (let at = 0; at < words.length; at++) {
    const [flag = "", glued] = (words[at] ?? "").split("=", 2);
    if (flag === "…") continue;
    if (!flag.startsWith("--")) {
      const argument = command.registeredArguments[Math.min(positionals, command.registeredArguments.length - 1)];
      if (argument === undefined || (positionals >= command.registeredArguments.length && !argument.variadic))
        return result(`${command.name()} takes no argument ${flag}`);
      const fault = valueFault(argument.parseArg, words[at] ?? "");
      if (fault !== undefined) return result(`<${argument.name()}> ${fault}`);
      positionals += 1;
      continue;
    }
    const option = [...command.options, ...program.options].find(({ long }) => long === flag);
    if (option === undefined && flag !== "--help") return result(`${command.name()} has no option ${flag}`);
    passedFlags.add(flag);
    if (!option?.required) continue;
    const value = glued ?? words[at + 1];
    if (glued === undefined && value !== undefined && !value.startsWith("--")) at += 1;
    const fault = value === undefined || value.startsWith("--") ? undefined : valueFault(option.parseArg, value);
    if (fault !== undefined) return result(`${flag} ${fault}`);
  }
  return result();
}

/** Documentation names files that a reader has and this repository does not. */
const fileMessage = "There is no such file.";

function valueFault(
  parse: ((value: string, previous: never) => unknown) | undefined,
  value: string,
): string | undefined {
  if (parse === undefined || isPlaceholder(value)) return undefined;
  try {
    parse(value, undefined as never);
    return undefined;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return message === fileMessage ? undefined : `${value}: ${message}`;
  }
}

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./processes.ts";

/** A code block of a page. */
export interface Snippet {
  /** The page's path in the repository. */
  readonly page: string;
  readonly line: number;
  /** What follows the fence: `ts`, for example; empty if nothing does. */
  readonly language: string;
  /** The file whose text it is: `from=` after the language. */
  readonly from: string | undefined;
  /** Without the indentation of a list. */
  readonly text: string;
}

/** All Markdown pages of the repository. */
export function pages(): string[] {
  const words = ["ls-files", "--cached", "--others", "--exclude-standard", "*.md"];
  return execFileSync("git", words, { cwd: root, encoding: "utf8" }).split("\n").filter(Boolean);
}

export function readPage(page: string): string {
  return readFileSync(join(root, page), "utf8");
}

export function snippetsOf(page: string): Snippet[] {
  const text = readPage(page);
  return [...text.matchAll(/^([ ]*)```([^\n]*)\n(.*?)^\1```$/gms)].map(
    ([, indent = "", info = "", code = ""], at, all) => {
      const [language = ""] = info.trim().split(" ", 1);
      const line = text.slice(0, all[at]?.index).split("\n").length;
      const from = /(?:^|\s)from=(\S+)/.exec(info)?.[1];
      return { page, line, language, from, text: code.replaceAll(new RegExp(`^${indent}`, "gm"), "") };
    },
  );
}

/** The commands in a page's sentences, such as `pnpm ads bots list` in backquotes. They may be incomplete. */
export function commandsInSentences(page: string): { readonly page: string; readonly words: readonly string[] }[] {
  const text = readPage(page).replaceAll(/^([ ]*)```[^\n]*\n.*?^\1```$/gms, "");
  return [
    ...text.matchAll(/`((?:(?:\.|\.\.\/intermission)\/)?(?:pnpm|npm|npx|pip3?|uv|yarn|bun|composer) [^`\n]+)`/g),
  ].map(([, command = ""]) => {
    const words = command.match(/'[^']*'|"[^"]*"|<[^>]*>|\{[^}]*\}|\S+/g) ?? [];
    return { page, words: words.map(unquoted) };
  });
}

/** A command of a shell script: its words, and the variables that are set for it alone. */
export interface ShellCommand {
  readonly words: readonly string[];
  readonly variables: readonly string[];
}

/**
 * The simple commands of a shell script, without those inside of substitutions, and the names that it sets. It reads what
 * documentation contains, not all of the language.
 */
export function shellCommands(script: string): ShellCommand[] {
  const lines = script
    .replaceAll(/\\\n\s*/g, " ")
    .replaceAll(/<<'?(\w+)'?\n(.*?)^\1$/gms, (_all, _end, body: string) => `\n${body}`)
    .split("\n");
  return lines.flatMap(commandsOfLine);
}

function commandsOfLine(line: string): ShellCommand[] {
  const words =
    line.match(/'[^']*'|"(?:\\.|[^"\\])*"|\$\((?:[^()]|\([^()]*\))*\)|#.*$|&&|\|\||[;|&]|[^\s'"$;|&#]+|\$|\S/g) ?? [];
  const commands: string[][] = [[]];
  let end = 0;
  for (const word of words) {
    const at = line.indexOf(word, end);
    const isGlued = at === end && at > 0 && !/^\s$/.test(line[at - 1] ?? " ");
    end = at + word.length;
    const current = commands.at(-1) ?? [];
    if (word.startsWith("#") && !isGlued) break;
    if (/^(&&|\|\||[;|&])$/.test(word)) commands.push([]);
    else if (isGlued && current.length > 0) current.push(`${current.pop()}${unquoted(word)}`);
    else current.push(unquoted(word));
  }
  return commands.filter((command) => command.length > 0).map(withVariables);
}

function unquoted(word: string): string {
  return /^(['"]).*\1$/s.test(word) ? word.slice(1, -1) : word;
}

function withVariables(words: readonly string[]): ShellCommand {
  const isExport = words[0] === "export";
  const rest = isExport ? words.slice(1) : words;
  const first = isExport ? rest.length : rest.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word));
  const assigned = first === -1 ? rest : rest.slice(0, first);
  return {
    variables: assigned.flatMap((word) => /^([A-Z][A-Z0-9_]*)=/.exec(word)?.[1] ?? []),
    words: first === -1 ? [] : withoutRedirections(rest.slice(first)),
  };
}

function withoutRedirections(words: readonly string[]): readonly string[] {
  const isRedirection = (word: string | undefined) => word !== undefined && /^[0-9]?[<>]+$/.test(word);
  return words.filter((word, at) => !isRedirection(word) && !isRedirection(words[at - 1]));
}

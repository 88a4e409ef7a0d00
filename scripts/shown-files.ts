import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./processes.ts";

/**
 * A code block whose fence says ```` ```ts from=docs/webhooks/verify.ts ```` shows that file, which tests run. GitHub, editors and
 * npm show the text of the page, so it stands there, and `npm run check` compares it. `from=<page>.md#<name>` is the block of
 * another page whose fence says `file=<name>`.
 */
export interface ShownFiles {
  /** The page with the files' texts. */
  readonly text: string;
  readonly faults: readonly string[];
}

/** Reads a file of the repository; `undefined` where there is none. */
export type ReadFile = (path: string) => string | undefined;

/** Compares a page with the files that it shows. */
export function showFiles(page: string, text: string, readFile: ReadFile = readFromRoot): ShownFiles {
  const faults: string[] = [];
  const lineAt = (offset: number) => text.slice(0, offset).split("\n").length;
  const shown = text.replaceAll(
    /^([ ]*)(```+)([^`\n]*)\n(.*?)^\1\2$/gms,
    (block: string, indent: string, fence: string, info: string, code: string, offset: number) => {
      const from = /(?:^|\s)from=(\S+)/.exec(info)?.[1];
      if (from === undefined) return block;
      const where = `${page}:${lineAt(offset)}`;
      const source = sourceOf(from, readFile);
      if (source === undefined) {
        faults.push(`${where} shows ${from}, which does not exist`);
        return block;
      }
      const expected = source.replaceAll(/^(?=.)/gm, indent);
      if (code !== expected) faults.push(`${where} differs from ${from}; npm run fix copies the file into the page`);
      return `${indent}${fence}${info}\n${expected}${indent}${fence}`;
    },
  );
  for (const { index } of text.matchAll(/^[ ]*<!--\s*@include/gm))
    faults.push(
      `${page}:${lineAt(index)} includes a file by a comment, which GitHub shows as nothing: use from=<file>`,
    );
  return { text: shown, faults };
}

function sourceOf(from: string, readFile: ReadFile): string | undefined {
  const [path = "", name] = from.split("#");
  const content = readFile(path);
  if (content === undefined || name === undefined) return content && withoutCommandLine(content);
  const blocks = content.matchAll(/^```\w+ ([^`\n]*)\n(.*?)^```$/gms);
  return [...blocks].find(([, info = ""]) => info.split(" ").includes(`file=${name}`))?.[2];
}

/** The part below `--- command line` lets a test run the file as a program, and is not shown. */
function withoutCommandLine(content: string): string {
  const [shown = ""] = content.split(/^(?:\/\/|#) --- command line/m);
  return `${shown.trim()}\n`;
}

function readFromRoot(path: string): string | undefined {
  try {
    return readFileSync(join(root, path), "utf8");
  } catch {
    return undefined;
  }
}

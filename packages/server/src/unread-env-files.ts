import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

const MAX_FILES = 50;
const MAX_BYTES = 64 * 1024;
const BYTE_ORDER_MARK = "\uFEFF";

/**
 * Why settings may be missing that a file of the folder has: the file was not read, or not as it is written. A sentence for
 * each such file; none contains a value. `missing`: the names of the variables.
 */
export function unreadEnvFiles(
  missing: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  folder = process.cwd(),
): string[] {
  if (missing.length === 0) return [];
  const marked = missing.filter((name) => environment[BYTE_ORDER_MARK + name] !== undefined);
  const ofNames = marked.map(
    (name) => `${name} has a byte order mark before its name: save the file that sets it as UTF-8 without one`,
  );
  return [...ofNames, ...envFilesOf(folder).flatMap((file) => sentenceOf(file, join(folder, file), missing) ?? [])];
}

function envFilesOf(folder: string): string[] {
  try {
    const files = readdirSync(folder).filter((name) => name.endsWith(".env"));
    return files.toSorted().slice(0, MAX_FILES);
  } catch {
    return [];
  }
}

function sentenceOf(name: string, path: string, missing: readonly string[]): string | undefined {
  try {
    const facts = statSync(path);
    if (!facts.isFile() || facts.size > MAX_BYTES) return undefined;
    const bytes = readFileSync(path);
    const isUtf16 =
      bytes.includes(0) || (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
    if (isUtf16) return `${name} in this folder is in UTF-16, which no shell reads: save it as UTF-8`;
    const text = bytes.toString();
    const set = missing.filter((variable) =>
      new RegExp(`^\\s*(export\\s+)?${variable}=.`, "m").test(text.replace(BYTE_ORDER_MARK, "")),
    );
    if (set.length === 0) return undefined;
    if (text.startsWith(BYTE_ORDER_MARK))
      return `${name} in this folder begins with a byte order mark, which hides its first line: save it as UTF-8 without one`;
    return `${name} in this folder sets ${set.join(", ")}, and was not read: set -a; . ./${name}; set +a`;
  } catch {
    return undefined;
  }
}

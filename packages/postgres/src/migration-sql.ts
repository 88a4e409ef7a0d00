import { createHash } from "node:crypto";

/**
 * The checksum of a migration's statements: comments and the amount of white space do not change it. Text in quotes counts
 * as it stands. The text between dollar quotes is code, so its comments do not count either.
 */
export function checksumOf(sql: string): string {
  return createHash("sha256").update(statementsIn(sql)).digest("hex");
}

/** Whether a migration begins or ends a transaction: all of them run in one, which must stay open until the last has run. */
export function controlsTransaction(sql: string): boolean {
  const outsideOfQuotes = statementsIn(sql, { hasQuoted: false });
  return /(?:^|;) ?(?:begin|start transaction|commit|rollback(?! to)|abort|prepare transaction)\b/i.test(
    outsideOfQuotes,
  );
}

/** An index that a migration makes or drops while others write. */
export interface ConcurrentIndex {
  readonly action: "create" | "drop";
  readonly name: string;
}

const concurrentIndex =
  /^(?:(create) (?:unique )?index concurrently if not exists|(drop) index concurrently if exists) ([a-z_][a-z0-9_]*)\b[^;]*;? ?$/i;

/** The index, for a migration that runs by itself, outside of a transaction. */
export function concurrentIndexOf(sql: string): ConcurrentIndex | undefined {
  const [, create, , name] = concurrentIndex.exec(statementsIn(sql)) ?? [];
  return name === undefined
    ? undefined
    : { action: create === undefined ? "drop" : "create", name: name.toLowerCase() };
}

/** The migration in the comment `-- works-with: 0004-clicks`: versions that know it work on the schema, too. */
export function worksWithOf(sql: string): string | undefined {
  return /^-- works-with: (\S+)$/m.exec(sql)?.[1];
}

/** What is wrong with a migration that comes after `earlier` ones, or undefined. */
export function faultOfMigration(sql: string, earlier: readonly string[]): string | undefined {
  if (controlsTransaction(sql)) return "begins or ends a transaction: the migrations run in one";
  const isConcurrent = /\bconcurrently\b/i.test(statementsIn(sql, { hasQuoted: false }));
  if (isConcurrent && concurrentIndexOf(sql) === undefined) {
    return (
      "has more than one statement, or an unknown form: a migration that runs concurrently is one statement, " +
      '"create index concurrently if not exists <name> on …" or "drop index concurrently if exists <name>"'
    );
  }
  const oldest = worksWithOf(sql);
  if (oldest === undefined || earlier.includes(oldest)) return undefined;
  return `works with ${oldest}, which is no earlier migration`;
}

/** One token at the position: a comment, a text, a name in quotes, code in dollar quotes, or white space. */
const tokens = {
  lineComment: /--[^\n]*/y,
  // With escapes: e'it\'s'.
  escapedText: /\be'(?:[^'\\]|\\.|'')*'/isy,
  text: /'(?:[^']|'')*'/y,
  name: /"(?:[^"]|"")*"/y,
  dollarQuoted: /(\$(?:[a-z_]\w*)?\$)(.*?)\1/isy,
  blank: /\s+/y,
  word: /\w+/y,
} satisfies Record<string, RegExp>;

function statementsIn(sql: string, { hasQuoted = true } = {}): string {
  // An array, since asking a text that grows for its end copies it each time.
  const parts: string[] = [];
  let at = 0;
  while (at < sql.length) {
    const take = (token: RegExp): RegExpExecArray | null => {
      token.lastIndex = at;
      return token.exec(sql);
    };
    const comment = sql.startsWith("/*", at) ? endOfBlockComment(sql, at) - at : take(tokens.lineComment)?.[0].length;
    const blank = comment ?? take(tokens.blank)?.[0].length;
    if (blank !== undefined) {
      if (parts.length > 0 && parts.at(-1) !== " ") parts.push(" ");
      at += blank;
      continue;
    }
    const code = take(tokens.dollarQuoted);
    const [quoted] = code ?? take(tokens.escapedText) ?? take(tokens.text) ?? take(tokens.name) ?? [];
    const part = quoted ?? take(tokens.word)?.[0] ?? sql.charAt(at);
    if (quoted === undefined) parts.push(part);
    else if (hasQuoted) parts.push(code === null ? quoted : `${code[1]}${statementsIn(code[2] ?? "")}${code[1]}`);
    at += part.length;
  }
  return parts.join("").trimEnd();
}

/** Block comments nest. */
function endOfBlockComment(sql: string, start: number): number {
  const mark = /\/\*|\*\//g;
  mark.lastIndex = start;
  let depth = 0;
  for (let found = mark.exec(sql); found !== null; found = mark.exec(sql)) {
    depth += found[0] === "/*" ? 1 : -1;
    if (depth === 0) return mark.lastIndex;
  }
  return sql.length;
}

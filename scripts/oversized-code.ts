import { parseSync, type Span, Visitor } from "oxc-parser";

export const MAX_FUNCTION_LINES = 80;
export const MAX_STATEMENT_LINES = 60;

/**
 * Finds functions and SQL statements that do not fit on a screen; one line of text for each. Both are measured as they are
 * written, from the first line to the last, with comments and blank lines. A function counts the functions inside it. A
 * statement does not count what it inserts by `${name}`, as a function does not count those that it calls.
 */
export function findOversizedCode(file: string, text: string): string[] {
  return file.endsWith(".sql") ? findLongMigrations(file, text) : findLongParts(file, text);
}

function findLongParts(file: string, text: string): string[] {
  const { program, errors } = parseSync(file, text);
  if (errors[0]) return [`${file} cannot be parsed: ${errors[0].message}`];
  const faults: string[] = [];
  const checkFunction = (node: Span & { id?: Span | null }) => {
    const lines = countLines(textOf(text, node));
    if (lines > MAX_FUNCTION_LINES) {
      const name = node.id ? textOf(text, node.id) : nameBefore(text, node.start);
      faults.push(`${placeOf(file, text, node.start)}: the function ${name} has ${lines} lines, ${tooLong.function}`);
    }
  };
  const checkText = (node: Span) => {
    const written = textOf(text, node);
    const lines = countLines(written);
    if (lines > MAX_STATEMENT_LINES && SQL.test(written)) {
      faults.push(
        `${placeOf(file, text, node.start)}: the statement ${nameBefore(text, node.start)} has ${lines} lines, ${tooLong.statement}`,
      );
    }
  };
  new Visitor({
    FunctionDeclaration: checkFunction,
    FunctionExpression: checkFunction,
    ArrowFunctionExpression: checkFunction,
    TemplateLiteral: checkText,
  }).visit(program);
  return faults;
}

/** A statement, or a part of one: a line of text that begins as SQL does. */
const SQL =
  /(?:^|\n|`)\s*(?:with|select|insert into|update|delete from|create|alter)\s|\bas (?:not )?(?:materialized )?\(/i;

function findLongMigrations(file: string, text: string): string[] {
  const faults: string[] = [];
  for (const [statement] of text.matchAll(/(?:(\$\w*\$).*?\1|'(?:[^']|'')*'|--[^\n]*|[^;])+/gs)) {
    const sql = statement.replace(/^(?:\s|--[^\n]*)+/, "");
    const lines = countLines(sql.trimEnd());
    if (lines <= MAX_STATEMENT_LINES) continue;
    const [name] = sql.split(/\s*[(\n]/, 1);
    faults.push(`${placeOf(file, text, text.indexOf(sql))}: "${name}" has ${lines} lines, ${tooLong.statement}`);
  }
  return faults;
}

const tooLong = {
  function: `at most ${MAX_FUNCTION_LINES} are allowed: make each of its steps a function with a name`,
  statement: `at most ${MAX_STATEMENT_LINES} are allowed: decide in TypeScript between two statements, or name a part with a meaning of its own and insert it`,
};

const textOf = (text: string, { start, end }: Span) => text.slice(start, end);
const countLines = (text: string) => text.split("\n").length;
const placeOf = (file: string, text: string, offset: number) => `${file}:${countLines(text.slice(0, offset))}`;

/** What stands before an expression tells its name: of a method, a variable or a property, or of what it is passed to. */
function nameBefore(text: string, start: number): string {
  const before = text.slice(Math.max(0, start - 500), start);
  const named = /([\w$]+)$|([\w$]+)(?:: [^=;{}]+)? = (?:async )?$|([\w$]+): (?:async )?$/.exec(before);
  const statement = /\bstatement(?:<[^()]*>)?\(\s*"([^"\n]+)",\s*$/.exec(before);
  const name = statement?.[1] ?? named?.slice(1).find(Boolean);
  if (name !== undefined) return name;
  const callee = /([\w$.]+)\((?:[^()]*,\s*)?$/.exec(before)?.[1];
  return callee === undefined ? "without a name" : `that ${callee}() is called with`;
}

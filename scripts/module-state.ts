import { type Directive, parseSync, type Statement } from "oxc-parser";

/** Where a module may hold state that changes, and why. */
const allowed: Readonly<Record<string, string>> = {
  "packages/operator-api/src/days-in-zone.ts": "the clocks of time zones, which are costly to make and never change",
  "packages/postgres/src/database.ts": "statements are known by their names once their modules are loaded",
  "packages/postgres/src/file-lock.ts": "a lock ends when its database is collected, so the process refers to it",
  "packages/publisher/src/memory-store.ts":
    "warns of stores that are made for each request, which have no other place in common",
  "packages/server/src/random-bytes.ts":
    "random bytes that are drawn in advance; nobody can tell whether they are shared",
};

const isTest = (file: string) => /[.]test[.]tsx?$/.test(file) || file.startsWith("packages/testing/");
/** A page of a browser is opened once and closed as a whole: its modules are its opened object. */
const isPage = (file: string) => /^apps\/(?:miniapp|console)\/|\/public\//.test(file);

/**
 * Finds state at module level: a variable that is assigned again, and a collection that begins empty. Two servers in one
 * process would share it, nobody sees it in the parameters of a function, and no test starts without it. What a feature keeps is
 * an object that main.ts or app.ts opens and passes.
 */
export function findModuleState(file: string, text: string): string[] {
  if (isTest(file) || isPage(file)) return [];
  const { program, errors } = parseSync(file, text);
  if (errors[0]) return [`${file} cannot be parsed: ${errors[0].message}`];
  const found = program.body.flatMap(stateOf);
  if (allowed[file] !== undefined) {
    return found.length > 0 ? [] : [`${file} holds no state any more: remove it from scripts/module-state.ts`];
  }
  return found.map(({ name, start }) => {
    const line = text.slice(0, start).split("\n").length;
    return `${file}:${line}: ${name} is state of the module: make it a field of an object that main.ts or app.ts opens and passes`;
  });
}

interface State {
  readonly name: string;
  readonly start: number;
}

function stateOf(statement: Statement | Directive): State[] {
  const declaration = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
  if (declaration?.type !== "VariableDeclaration" || declaration.declare === true) return [];
  return declaration.declarations.flatMap(({ id, init, start }) => {
    if (id.type !== "Identifier") return [];
    const isCollection =
      init?.type === "NewExpression" &&
      init.callee.type === "Identifier" &&
      (/^(?:Map|Set)$/.test(init.callee.name)
        ? init.arguments.length === 0
        : /(?:Cache|Queue|Emitter)$/.test(init.callee.name));
    return declaration.kind !== "const" || isCollection ? [{ name: id.name, start }] : [];
  });
}

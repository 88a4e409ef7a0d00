import { type Expression, parse, type Super } from "acorn";
import type { Plugin } from "vite";

/**
 * Marks the calls that initialise the top-level variables of a package as free of side effects, so that the bundler leaves out
 * unused ones. `@telegram-apps/transformers` builds its parsers of launch data so: 0.6 kB of the first load.
 */
export function pureInitialisers(packageName: string): Plugin {
  return {
    name: "pure-initialisers",
    apply: "build",
    transform(code, id) {
      if (!id.includes(`/node_modules/${packageName}/`)) return undefined;
      const calls = callsOfInitialisers(code);
      if (calls.length === 0) throw new Error(`${id} has no call that initialises a variable: remove pureInitialisers`);
      const starts = [...new Set(calls)].sort((one, other) => one - other);
      const parts = starts.map((start, index) => `/* @__PURE__ */${code.slice(start, starts[index + 1])}`);
      return { code: code.slice(0, starts[0]) + parts.join(""), map: null };
    },
  };
}

/** Where the calls begin. */
function callsOfInitialisers(code: string): number[] {
  const { body } = parse(code, { ecmaVersion: "latest", sourceType: "module" });
  return body.flatMap((statement) => {
    const declared = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
    return declared?.type === "VariableDeclaration" ? declared.declarations.flatMap(({ init }) => callsOf(init)) : [];
  });
}

/** Of the expression itself, and of what it calls and passes: `parser(object({ id: number() })())`. */
function callsOf(expression: Expression | Super | null | undefined): number[] {
  switch (expression?.type) {
    case "CallExpression": {
      const passed = expression.arguments.map((each) => (each.type === "SpreadElement" ? each.argument : each));
      return [expression.start, ...[expression.callee, ...passed].flatMap(callsOf)];
    }
    case "ObjectExpression":
      return expression.properties.flatMap((each) => (each.type === "Property" ? callsOf(each.value) : []));
    case "ArrayExpression":
      return expression.elements.flatMap((each) => (each?.type === "SpreadElement" ? [] : callsOf(each)));
    default:
      return [];
  }
}

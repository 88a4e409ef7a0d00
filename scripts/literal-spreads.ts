import { type Expression, parseSync, type SpreadElement, Visitor } from "oxc-parser";

/**
 * Finds literals that are spread into one of their kind, as `...["a", "b"]` in a list: they only keep the formatter from writing
 * a line for each entry. One line of text for each.
 */
export function findLiteralSpreads(file: string, text: string): string[] {
  const { program, errors } = parseSync(file, text);
  if (errors[0]) return [`${file} cannot be parsed: ${errors[0].message}`];
  const faults: string[] = [];
  const check = (parts: readonly ({ type: string } | null)[], literal: Expression["type"]) => {
    for (const part of parts) {
      if (part?.type !== "SpreadElement") continue;
      const { start, argument } = part as SpreadElement;
      if (unwrapped(argument).type !== literal) continue;
      const line = text.slice(0, start).split("\n").length;
      faults.push(
        `${file}:${line}: a literal is spread: write its entries; where rows read better, put "// biome-ignore format: packed" above`,
      );
    }
  };
  new Visitor({
    ArrayExpression: ({ elements }) => check(elements, "ArrayExpression"),
    CallExpression: (call) => check(call.arguments, "ArrayExpression"),
    NewExpression: (call) => check(call.arguments, "ArrayExpression"),
    ObjectExpression: ({ properties }) => check(properties, "ObjectExpression"),
  }).visit(program);
  return faults;
}

function unwrapped(value: Expression): Expression {
  return value.type === "ParenthesizedExpression" || value.type === "TSAsExpression"
    ? unwrapped(value.expression)
    : value;
}

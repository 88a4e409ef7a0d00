import { parseSync, Visitor } from "oxc-parser";

/** What readers see or hear of an element. */
const spokenAttributes = new Set(["alt", "aria-label", "hint", "label", "placeholder", "title"]);

/** The product's name, and addresses that show a form. */
const isWord = (text: string) => /\p{L}{2}/u.test(text.replaceAll(/&\w+;|\bIntermission\b|\bhttps?:\S+/g, ""));

/** Finds texts of screens that stand in the code of an element instead of a catalog of words. */
export function findScreenTexts(file: string, text: string): string[] {
  const { program, errors } = parseSync(file, text);
  if (errors[0]) return [`${file} cannot be parsed: ${errors[0].message}`];
  const faults: string[] = [];
  const check = (start: number, shown: unknown) => {
    if (typeof shown !== "string" || !isWord(shown)) return;
    const line = text.slice(0, start).split("\n").length;
    faults.push(`${file}:${line}: "${shown.trim()}" is a text of a screen: say it by a word of the app's catalog`);
  };
  new Visitor({
    JSXText: ({ start, value }) => check(start, value),
    JSXAttribute: ({ start, name, value }) => {
      if (typeof name.name === "string" && spokenAttributes.has(name.name) && value?.type === "Literal")
        check(start, value.value);
    },
    JSXExpressionContainer: ({ start, expression }) => {
      if (expression.type === "Literal") check(start, expression.value);
    },
  }).visit(program);
  return faults;
}

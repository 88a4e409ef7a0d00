import { parseSync, type Span, Visitor } from "oxc-parser";

/** A list of words in a source. */
export interface WordList {
  readonly file: string;
  readonly line: number;
  readonly words: readonly string[];
  /** Whether it has a name that types are made of: `z.enum([…])`, `[…] as const`, or a type that is a union. */
  readonly isVocabulary: boolean;
}

type Part = { type: string; value?: unknown; literal?: { value?: unknown }; start: number } | null;

/** The lists of two words or more in a file: arrays of strings, and unions of string literals. */
export function wordListsOf(file: string, text: string): WordList[] {
  const { program, errors } = parseSync(file, text);
  if (errors[0]) throw new Error(`${file} cannot be parsed: ${errors[0].message}`);
  const vocabularies = new Set<number>();
  const lists: Omit<WordList, "isVocabulary">[] = [];
  const starts: number[] = [];
  const add = ({ start }: Span, parts: readonly Part[], wordOf: (part: Part) => unknown) => {
    const words = parts.map(wordOf).filter((word) => typeof word === "string");
    if (words.length < 2 || words.length !== parts.length) return;
    lists.push({ file, line: text.slice(0, start).split("\n").length, words });
    starts.push(start);
  };
  new Visitor({
    CallExpression: ({ callee, arguments: [first] }) => {
      if (first && /\.enum$/.test(text.slice(callee.start, callee.end))) vocabularies.add(first.start);
    },
    TSAsExpression: ({ expression, typeAnnotation }) => {
      if (text.slice(typeAnnotation.start, typeAnnotation.end) === "const") vocabularies.add(expression.start);
    },
    ArrayExpression: (list) => add(list, list.elements as readonly Part[], (part) => part?.value),
    TSTypeAliasDeclaration: ({ typeAnnotation }) => void vocabularies.add(typeAnnotation.start),
    TSUnionType: (union) =>
      add(
        union,
        (union.types as readonly Part[]).filter((part) => part?.type !== "TSNullKeyword"),
        (part) => part?.literal?.value,
      ),
  }).visit(program);
  return lists.map((list, index) => ({ ...list, isVocabulary: vocabularies.has(starts[index] ?? -1) }));
}

/** Vocabularies whose words another list repeats, in whatever order: one line of text for each. */
export function repeatedLists(lists: readonly WordList[]): string[] {
  const bySet = Map.groupBy(lists, ({ words }) => [...new Set(words)].toSorted().join(", "));
  return [...bySet]
    .filter(([, equal]) => equal.length > 1 && equal.some(({ isVocabulary }) => isVocabulary))
    .map(([words, equal]) => {
      const places = equal.map(({ file, line }) => `${file}:${line}`).join(", ");
      return `${places}: the words ${words} are listed more than once: export one list, and derive types and other lists from it`;
    });
}

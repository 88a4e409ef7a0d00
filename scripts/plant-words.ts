/**
 * Adds members to the vocabularies of the product and lists what the compiler says: it must name each place that handles the
 * members of a vocabulary. Sources stay as they are; the compiler reads the changed text from memory.
 */
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import {
  type Expression,
  isArrayLiteralExpression,
  isAsExpression,
  isCallExpression,
  isIdentifier,
  isLiteralTypeNode,
  isParenthesizedTypeNode,
  isPropertyAccessExpression,
  isPropertySignatureDeclaration,
  isSpreadElement,
  isStringLiteral,
  isTypeAliasDeclaration,
  isTypeLiteralNode,
  isUnionTypeNode,
  isVariableStatement,
  type Node,
  type SourceFile,
  type Statement,
  type TypeNode,
  type UnionTypeNode,
} from "typescript/unstable/ast";
import { API, type Diagnostic, type Program } from "typescript/unstable/sync";
import { root } from "./processes.ts";

/** A closed list of words: a union of literals, a union told apart by a literal, the same two of zod, or a constant array. */
export interface Vocabulary {
  /** File and name: `apps/ad-service/src/clicks/click-verdict.ts ClickVerdict`. */
  readonly name: string;
  readonly file: string;
  readonly position: number;
  /** The text that adds a member at the position. */
  readonly added: (word: string) => string;
}

export interface Planter {
  readonly vocabularies: readonly Vocabulary[];
  /** Adds a member to each of these; returns the files with faults that name the member, by vocabulary. */
  plant(vocabularies: readonly Vocabulary[]): ReadonlyMap<string, readonly string[]>;
  /** Whether this file has a fault if only this vocabulary has a member more. */
  hasFault(vocabulary: Vocabulary, file: string): boolean;
  close(): void;
}

/** The apps, and the packages that they are made of. */
const productSource =
  /^(apps\/(ad-service|api|console|demo-bot|miniapp)|packages\/(ad-core|operator-api|postgres|publisher|server))\/src\//;

/** Opens the projects in these folders. */
export function openPlanter(folders: readonly string[]): Planter {
  const changed = new Map<string, string>();
  const api = new API({ cwd: root, fs: { readFile: (file) => changed.get(file) } });
  const configs = folders.map((folder) => join(root, folder, "tsconfig.json"));
  const programs = (files: string[] = []) => {
    const snapshot = api.updateSnapshot({ openProjects: configs, fileChanges: { changed: files } });
    return configs.flatMap((config) => snapshot.getProject(config)?.program ?? []);
  };
  const sources = new Map<string, SourceFile>();
  for (const program of programs()) {
    for (const file of program.getSourceFileNames()) {
      const isOurs = file.startsWith(`${root}/`) && productSource.test(relative(root, file));
      const source = isOurs && !/[.]test[.]tsx?$/.test(file) ? program.getSourceFile(file) : undefined;
      if (source) sources.set(file, source);
    }
  }
  const vocabularies = [...sources].flatMap(([file, source]) => vocabulariesOf(file, source));
  const wordOf = (vocabulary: Vocabulary) => `planted-${vocabularies.indexOf(vocabulary)}-`;

  /** Checks the programs with the changed texts, which are dropped afterwards. */
  function withPlanted<Found>(planted: readonly Vocabulary[], check: (all: readonly Program[]) => Found): Found {
    const byFile = Map.groupBy(planted, ({ file }) => file);
    for (const [file, ofFile] of byFile) {
      let text = readFileSync(file, "utf8");
      for (const vocabulary of ofFile.toSorted((one, other) => other.position - one.position)) {
        const { position, added } = vocabulary;
        text = text.slice(0, position) + added(wordOf(vocabulary)) + text.slice(position);
      }
      changed.set(file, text);
    }
    const found = check(programs([...byFile.keys()]));
    changed.clear();
    programs([...byFile.keys()]);
    return found;
  }

  return {
    vocabularies,
    plant(planted) {
      const faults = withPlanted(planted, (all) => all.flatMap((program) => program.getSemanticDiagnostics()));
      const texts = faults.map((fault) => ({ file: relative(root, fault.fileName ?? ""), text: textOf(fault) }));
      const named = planted.map((vocabulary) => {
        const ofWord = texts.filter(({ text }) => text.includes(wordOf(vocabulary)));
        return [vocabulary.name, [...new Set(ofWord.map(({ file }) => file))]] as const;
      });
      return new Map(named.filter(([, files]) => files.length > 0));
    },
    hasFault(vocabulary, file) {
      const path = join(root, file);
      return withPlanted([vocabulary], (all) =>
        all
          .filter((program) => program.getSourceFile(path) !== undefined)
          .some((program) => program.getSemanticDiagnostics(path).length > 0),
      );
    },
    close: () => api.close(),
  };
}

function textOf(fault: Diagnostic): string {
  const more = [...(fault.messageChain ?? []), ...(fault.relatedInformation ?? [])];
  return [fault.text, ...more.map(textOf)].join("\n");
}

function vocabulariesOf(file: string, source: SourceFile): Vocabulary[] {
  return source.statements.flatMap((statement) =>
    wordListsOf(statement, source).map(({ name, at, added }) => ({
      name: `${relative(root, file)} ${name}`,
      file,
      position: at.getStart(source),
      added,
    })),
  );
}

interface WordList {
  readonly name: string;
  /** Its first member. */
  readonly at: Node;
  readonly added: Vocabulary["added"];
}

function wordListsOf(statement: Statement, source: SourceFile): WordList[] {
  if (isTypeAliasDeclaration(statement)) {
    const type = unwrapped(statement.type);
    const found = isUnionTypeNode(type) ? memberOf(type) : undefined;
    return found ? [{ name: statement.name.text, ...found }] : [];
  }
  if (!isVariableStatement(statement)) return [];
  return statement.declarationList.declarations.flatMap(({ name, initializer }) => {
    const ofObjects = initializer && isIdentifier(name) ? objectsOf(initializer) : undefined;
    if (ofObjects && isIdentifier(name)) return [{ name: name.text, ...ofObjects }];
    const [first] = initializer ? wordsOf(initializer) : [];
    if (!first || !isIdentifier(name) || !isTypeSource(name.text, initializer, source)) return [];
    return [{ name: name.text, at: first, added: (word) => `"${word}", ` }];
  });
}

/** Unions that a property tells apart get a member that has only this property, so that code for the others does not fit it. */
function memberOf(union: UnionTypeNode): Omit<WordList, "name"> | undefined {
  const members = union.types.map(unwrapped);
  for (const member of members) {
    if (!isTypeLiteralNode(member)) continue;
    for (const property of member.members) {
      if (!isPropertySignatureDeclaration(property) || !property.type || !isIdentifier(property.name)) continue;
      const type = unwrapped(property.type);
      const name = property.name.text;
      if (isWord(type) || (isUnionTypeNode(type) && type.types.every(isWord)))
        return { at: member, added: (word) => `{ ${name}: "${word}" } | ` };
    }
  }
  const first = members.find(isWord);
  return first && { at: first, added: (word) => `"${word}" | ` };
}

/** Whether the file makes a type of the list: other lists are values. */
function isTypeSource(name: string, list: Expression | undefined, { text }: SourceFile): boolean {
  return (
    (list && isCallExpression(list)) || new RegExp(`typeof ${name}\\)\\[number\\]|z[.]enum\\(${name}\\b`).test(text)
  );
}

/** The words of `z.enum([…])`, with any calls after it, and of `[…] as const`. */
function wordsOf(value: Expression): readonly Node[] {
  if (isAsExpression(value) && isArrayLiteralExpression(value.expression)) return onlyWords(value.expression.elements);
  if (!isCallExpression(value) || !isPropertyAccessExpression(value.expression)) return [];
  if (value.expression.name.text !== "enum") return wordsOf(value.expression.expression);
  const [list] = value.arguments;
  return list && isArrayLiteralExpression(list) ? onlyWords(list.elements) : [];
}

/** The objects of `z.discriminatedUnion("kind", […])`. */
function objectsOf(value: Expression): Omit<WordList, "name"> | undefined {
  if (!isCallExpression(value) || !isPropertyAccessExpression(value.expression)) return undefined;
  if (value.expression.name.text !== "discriminatedUnion") return objectsOf(value.expression.expression);
  const [property, list] = value.arguments;
  if (!property || !isStringLiteral(property) || !list || !isArrayLiteralExpression(list)) return undefined;
  const [at] = list.elements;
  return at && { at, added: (word) => `z.object({ ${property.text}: z.literal("${word}") }), ` };
}

/** A list may begin with another list. */
function onlyWords(elements: readonly Expression[]): readonly Expression[] {
  const words = elements.filter(isStringLiteral);
  return words.length > 1 && elements.every((one) => isStringLiteral(one) || isSpreadElement(one)) ? words : [];
}

function unwrapped(type: TypeNode): TypeNode {
  return isParenthesizedTypeNode(type) ? unwrapped(type.type) : type;
}

function isWord(type: TypeNode): boolean {
  return isLiteralTypeNode(type) && isStringLiteral(type.literal);
}

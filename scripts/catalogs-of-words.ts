/** What is wrong with the catalogs of words of an app, and the types of their values. */
import { type Message, type Placeholder, placeholdersOf, readMessage } from "../packages/ad-core/src/icu-message.ts";

/** A catalog, as its JSON has it. */
export interface Tree {
  readonly [name: string]: string | Tree;
}

/** A source that says messages, or has a vocabulary with a message for each member. */
export interface Source {
  readonly folder: string;
  readonly text: string;
}

export interface Catalogs {
  /** By language; English is the source of the others. */
  readonly trees: ReadonlyMap<string, Tree>;
  readonly sources: readonly Source[];
  /** Sections whose names are words of the operator's own choice. */
  readonly chosen: readonly string[];
}

/** Each begins with the file of its language. */
export function faultsOfCatalogs({ trees, sources, chosen }: Catalogs): string[] {
  const unread: string[] = [];
  const languages = [...trees].map(([language, tree]) => {
    const messages = messagesIn(tree, (fault) => unread.push(`${language}.json: ${fault}`));
    return [language, messages] as const;
  });
  const english = new Map(languages).get("en") ?? new Map();
  const differing = languages.flatMap(([language, messages]) =>
    differences(language, messages, english).map((fault) => `${language}.json: ${fault}`),
  );
  const paths = [...english.keys()].filter((path) => !chosen.includes(path.split(".")[0] ?? ""));
  return [...unread, ...differing, ...unsaid(paths, sources).map((path) => `en.json: no code says ${path}`)];
}

/** By the dotted path of each message. */
function messagesIn(tree: Tree, onFault: (fault: string) => void): ReadonlyMap<string, Message> {
  const read = new Map<string, Message>();
  for (const [path, text] of leaves(tree)) {
    try {
      read.set(path, readMessage(text));
    } catch (error) {
      onFault(`${path}: ${error instanceof Error ? error.message : error}`);
    }
  }
  return read;
}

function leaves(tree: Tree, above = ""): [path: string, text: string][] {
  return Object.entries(tree).flatMap(([name, part]): [string, string][] =>
    typeof part === "string" ? [[`${above}${name}`, part]] : leaves(part, `${above}${name}.`),
  );
}

function differences(
  language: string,
  messages: ReadonlyMap<string, Message>,
  english: ReadonlyMap<string, Message>,
): string[] {
  const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions();
  const needed = pluralCategories.toSorted().join(", ");
  const missing = [...english.keys()].filter((path) => !messages.has(path)).map((path) => `${path} is missing`);
  const ofMessages = [...messages].flatMap(([path, message]) => {
    const original = english.get(path);
    if (original === undefined) return [`${path} is not in en.json`];
    const values = new Set(placeholdersOf(original).map(({ value }) => value));
    const placeholders = placeholdersOf(message);
    const unknown = placeholders.filter(({ value }) => !values.has(value));
    const plurals = placeholders.filter(({ kind }) => kind === "plural");
    const forms = plurals.map(({ cases }) =>
      [...cases.keys()]
        .filter((name) => !name.startsWith("="))
        .toSorted()
        .join(", "),
    );
    return [
      ...unknown.map(({ value }) => `${path} has the value ${value}, which the English message does not have`),
      ...forms
        .filter((form) => form !== needed)
        .map((form) => `${path} has the plural forms ${form}, and needs ${needed}`),
    ];
  });
  return [...missing, ...ofMessages];
}

/**
 * The messages whose name, or one that it stands under, is nowhere in the code that has their section. A name may be put together:
 * `${decision}Of` says `releaseOf`.
 */
function unsaid(paths: readonly string[], sources: readonly Source[]): string[] {
  return [...Map.groupBy(paths, (path) => path.split(".")[0] ?? "")].flatMap(([section, ofSection]) => {
    const table = sources.flatMap(
      ({ text }) => new RegExp(`(\\w+) =\\s+loadWords[(]"${section}"`).exec(text)?.[1] ?? [],
    )[0];
    if (table === undefined) return ofSection;
    const users = sources.filter(({ folder, text }) => folder.startsWith("packages/") || text.includes(table));
    const names = new Set(users.flatMap(({ text }) => text.match(/[\w-]+/g) ?? []));
    const ends = users.flatMap(({ text }) => [...text.matchAll(/\[`\$\{\w+\}(\w+)`\]/g)].map(([, end = ""]) => end));
    const isSaid = (name: string) => names.has(name) || / /.test(name) || ends.some((end) => name.endsWith(end));
    return ofSection.filter((path) => !path.split(".").slice(1).some(isSaid));
  });
}

/** The text of `values.ts`. */
export function valueTypes(english: Tree): string {
  const entries = [...messagesIn(english, () => {})].flatMap(([path, message]) => {
    const byValue = Map.groupBy(placeholdersOf(message), ({ value }) => value);
    const values = [...byValue].map(([value, placeholders]) => `${value}: ${typeOf(placeholders)}`);
    const name = /^\w+$/.test(path) ? path : JSON.stringify(path);
    const line = `  ${name}: { ${values.join("; ")} };\n`;
    // As the formatter writes it.
    const lines = `  ${name}: {\n${values.map((value) => `    ${value};\n`).join("")}  };\n`;
    return values.length === 0 ? [] : [line.length > 121 ? lines : line];
  });
  return `/** The values of the messages in en.json. Written by \`npm run fix\`. */\nexport interface Values {\n${entries.join("")}}\n`;
}

/** As the strictest of its places needs it. */
function typeOf(placeholders: readonly Placeholder[]): string {
  if (placeholders.some(({ kind }) => kind === "number" || kind === "plural")) return "number";
  const select = placeholders.find(({ kind }) => kind === "select");
  if (select === undefined) return "string | number";
  return select.cases.has("true") ? "boolean" : "string";
}

import {
  formatMessage,
  type MessageValue,
  type NumberRules,
  numberRules,
  placeholdersOf,
  readMessage,
} from "@intermission/ad-core/icu-message";
import english from "./en.json";
import { type Language, languages } from "./languages.ts";
import russian from "./ru.json";
import type { Values } from "./values.ts";
import { addWordFiles } from "./word-files.ts";

/** A text of the catalogs, as it is called: with one value, with several by their names, or without any. */
type Said<Path extends string> = Path extends keyof Values
  ? OnlyName<Values[Path]> extends never
    ? (values: Values[Path]) => string
    : (value: Values[Path][OnlyName<Values[Path]>]) => string
  : string;

/** The name, if there is one; `never` for several. */
type OnlyName<Named> = { [Name in keyof Named]: Exclude<keyof Named, Name> extends never ? Name : never }[keyof Named];

type SaidTree<Tree, Path extends string> = {
  readonly [Name in keyof Tree & string]: Tree[Name] extends string
    ? Said<`${Path}.${Name}`>
    : SaidTree<Tree[Name], `${Path}.${Name}`>;
};

type Catalog = typeof english;
type SectionName = keyof Catalog;
export type Section<Name extends SectionName> = SaidTree<Catalog[Name], Name>;

/** A section of the catalogs, by language. */
type WordTable<Name extends SectionName> = Readonly<Record<Language, Section<Name>>>;

type Catalogs = Readonly<Record<Language, { readonly [Name in SectionName]?: unknown }>>;
type Files = Readonly<Record<Language, () => Promise<{ default: { readonly [Name in SectionName]?: unknown } }>>>;

/** In the build each call of `loadWords` gets files with its section instead: `build/split-words.ts`. */
const whole: Catalogs | undefined = import.meta.env.PROD
  ? undefined
  : ({ en: english, ru: russian } satisfies Record<Language, typeof english>);

/** A section, which is there once `wordsLoaded` is: the build waits for it before a file that is loaded later is used. */
export function loadWords<Name extends SectionName>(name: Name, files?: Files): WordTable<Name> {
  const table: Partial<Record<Language, Section<Name>>> = {};
  const fill = (language: Language, catalog: Catalogs[Language]) => {
    // The types are made from the same file.
    table[language] = saidTree(catalog[name], numberRules(language)) as Section<Name>;
  };
  for (const language of whole ? languages : []) fill(language, whole?.[language] ?? {});
  if (files !== undefined) {
    addWordFiles(async (language) => {
      if (table[language] === undefined) fill(language, (await files[language]()).default);
    });
  }
  // Readers ask only for the language in use, which is loaded before it is.
  return table as WordTable<Name>;
}

function saidTree(tree: unknown, rules: NumberRules): unknown {
  if (typeof tree === "string") return said(tree, rules);
  return Object.fromEntries(Object.entries(tree ?? {}).map(([name, part]) => [name, saidTree(part, rules)]));
}

type NamedValues = Readonly<Record<string, MessageValue>>;

/** Most messages of a screen are not said: each is read when it is. */
function said(text: string, rules: NumberRules): string | ((values: MessageValue | NamedValues) => string) {
  if (!text.includes("{")) return text;
  return (values) => {
    const message = readMessage(text);
    if (typeof values === "object") return formatMessage(message, values, rules);
    const name = placeholdersOf(message)[0]?.value ?? "";
    return formatMessage(message, { [name]: values }, rules);
  };
}

/** The names of a message's values. */
export type ValueNames<Path extends string> = Path extends keyof Values ? keyof Values[Path] : never;

/** A text with or without values. */
export type Sayable = string | ((values: never) => string);

/** A message of a table whose codes have different values. `_Unknown`: the values of messages that their codes do not have. */
export function sayWith<_Unknown extends never = never>(text: Sayable, values: NamedValues): string {
  // Who calls it has checked that there is each value of this code.
  return typeof text === "string" ? text : text(values as never);
}

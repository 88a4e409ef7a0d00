import type { en } from "./en.ts";

type Source = typeof en;
export type MessageKey = keyof Source;

/** One text for each plural category of the language; the category comes from `Intl.PluralRules`. */
type PluralForms<Category extends Intl.LDMLPluralRule> = Readonly<Record<Category, string>>;

type TextKey = { [Key in MessageKey]: Source[Key] extends string ? Key : never }[MessageKey];

/** A dictionary of a language with these plural categories. A missing or additional key does not compile. */
export type Dictionary<Category extends Intl.LDMLPluralRule> = Readonly<
  { [Key in TextKey]: string } & { [Key in Exclude<MessageKey, TextKey>]: PluralForms<Category> }
>;

/** A dictionary of any language, as the app reads it. */
export type AnyDictionary = Readonly<Record<MessageKey, string | Partial<PluralForms<Intl.LDMLPluralRule>>>>;

type NamesIn<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;
type TextOf<Key extends MessageKey> = Source[Key] extends { other: infer Other } ? Other : Source[Key];

/** The values that a text needs for its `{names}`. */
export type MessageValues<Key extends MessageKey> = Readonly<Record<NamesIn<TextOf<Key>>, string | number>>;

/** Arguments for a text: none if it has no `{names}`. */
export type MessageArguments<Key extends MessageKey> =
  NamesIn<TextOf<Key>> extends never ? [] : [values: MessageValues<Key>];

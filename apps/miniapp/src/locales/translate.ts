import type { NamedReward } from "@intermission/ad-core/client-api";
import { directionOf, type PageLanguage } from "@intermission/ad-core/page-language";
import type { AnyDictionary, MessageArguments, MessageKey, MessageValues } from "./dictionary.ts";

/** Binds a number, or its place in a template, to the word behind it: a line must not end between `10` and `coins`. */
export function bindNumbers(text: string): string {
  return text.replace(/(\p{Nd}|\{count\}) /gu, "$1\u00a0");
}

/** A part of a text. Values are separate parts, so that they can be isolated from the text's direction. */
type MessagePart = { readonly kind: "text" | "value"; readonly text: string };

type Named = { readonly amount: number; readonly unit?: NamedReward["unit"] };

export interface Translator {
  readonly language: string;
  parts<Key extends MessageKey>(key: Key, values: MessageValues<Key>): MessagePart[];
  text<Key extends MessageKey>(key: Key, ...values: MessageArguments<Key>): string;
  /** Formats an amount, in the bot's unit if it has one: `10 coins`. */
  amount(named: Named): string;
  /** The parts of `+10 coins`, without anything between. The number needs an element of its own, written from left to right. */
  gain(named: Named): readonly [number: string, unit?: string];
  /** `+10 coins` for a place that takes only text. */
  gainText(named: Named): string;
}

export function createTranslator(language: string, dictionary: AnyDictionary): Translator {
  const plurals = new Intl.PluralRules(language);
  // Russian groups digits and marks fractions as Uzbek does, of which Chromium has no data.
  const numbers = new Intl.NumberFormat(language === "uz" ? "ru" : language);

  const parts = (key: MessageKey, values: Readonly<Record<string, string | number>> = {}): MessagePart[] => {
    // A service that is newer than this page may return a reason that has no text yet.
    const entry = dictionary[key] ?? "";
    const template =
      typeof entry === "string" ? entry : (entry[plurals.select(Number(values.count))] ?? entry.other ?? "");
    // Pieces with an odd index are the names between braces.
    return bindNumbers(template)
      .split(/\{(\w+)\}/)
      .map((piece, index): MessagePart => {
        if (index % 2 === 0) return { kind: "text", text: piece };
        const value = values[piece] ?? "";
        return { kind: "value", text: typeof value === "number" ? numbers.format(value) : value };
      })
      .filter(({ text }) => text !== "");
  };

  const counted = ({ amount, unit = {} }: Named, sign = ""): readonly [number: string, unit?: string] => {
    // Not `signDisplay`: its mark of direction before the sign turns the order of number and unit in Arabic and Persian.
    const number = sign + numbers.format(amount);
    const tag = [language, "en", ...Object.keys(unit)].find((each) => unit[each]);
    if (!tag) return [number];
    const forms = unit[tag] ?? {};
    // A place in a channel has no number.
    if (forms.whole) return ["", forms.whole];
    const category = new Intl.PluralRules(tag).select(amount);
    const isDual = tag === "ar" && category === "two";
    const word = forms[isDual && sign ? "one" : category] ?? forms.other ?? "";
    // The Arabic dual says the number itself.
    return isDual && !sign ? [word] : [number, `\u00a0${word}`];
  };

  return {
    language,
    parts,
    text: (key, ...[values]) =>
      parts(key, values)
        .map(({ text }) => text)
        .join(""),
    amount: (named) => counted(named).join(""),
    gain: (named) => counted(named, "+"),
    gainText: (named) => {
      const [number, ...unit] = counted(named, "+");
      // Between words from right to left, the sign would stand behind its number.
      return [directionOf(language as PageLanguage) === "rtl" ? `\u2066${number}\u2069` : number, ...unit].join("");
    },
  };
}

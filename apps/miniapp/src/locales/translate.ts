import type { NamedReward } from "@intermission/ad-core/client-api";
import type { AnyDictionary, MessageArguments, MessageKey, MessageValues } from "./dictionary.ts";

/** A part of a text. Values are separate parts, so that they can be isolated from the text's direction. */
export type MessagePart = { readonly kind: "text" | "value"; readonly text: string };

type Named = { readonly amount: number; readonly unit?: NamedReward["unit"] };

export interface Translator {
  readonly language: string;
  parts<Key extends MessageKey>(key: Key, values: MessageValues<Key>): MessagePart[];
  text<Key extends MessageKey>(key: Key, ...values: MessageArguments<Key>): string;
  /** Formats an amount, in the bot's unit if it has one: `10 coins`. */
  amount(named: Named): string;
  /** The parts of `+10 coins`. The number needs an element of its own, written from left to right. */
  gain(named: Named): readonly [number: string, unit?: string];
}

export function createTranslator(language: string, dictionary: AnyDictionary): Translator {
  const plurals = new Intl.PluralRules(language);
  const numbers = new Intl.NumberFormat(language);

  const parts = (key: MessageKey, values: Readonly<Record<string, string | number>> = {}): MessagePart[] => {
    // A service that is newer than this page may return a reason that has no text yet.
    const entry = dictionary[key] ?? "";
    const template =
      typeof entry === "string" ? entry : (entry[plurals.select(Number(values.count))] ?? entry.other ?? "");
    // Pieces with an odd index are the names between braces.
    return template
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
    const category = new Intl.PluralRules(tag).select(amount);
    const isDual = tag === "ar" && category === "two";
    const word = unit[tag]?.[isDual && sign ? "one" : category] ?? unit[tag]?.other ?? "";
    // The Arabic dual says the number itself.
    return isDual && !sign ? [word] : [number, word];
  };

  return {
    language,
    parts,
    text: (key, ...[values]) =>
      parts(key, values)
        .map(({ text }) => text)
        .join(""),
    amount: (named) => counted(named).join(" "),
    gain: (named) => counted(named, "+"),
  };
}

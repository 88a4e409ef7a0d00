import type { NamedReward } from "@intermission/ad-core/client-api";
import type { AnyDictionary, MessageArguments, MessageKey, MessageValues } from "./dictionary.ts";

/** A part of a text. Values are separate parts, so that they can be isolated from the text's direction. */
export type MessagePart = { readonly kind: "text" | "value"; readonly text: string };

export interface Translator {
  readonly language: string;
  parts<Key extends MessageKey>(key: Key, values: MessageValues<Key>): MessagePart[];
  text<Key extends MessageKey>(key: Key, ...values: MessageArguments<Key>): string;
  /** Formats an amount, in the bot's unit if it has one: `10 coins`; a gain as `+10 coins`. */
  amount(named: { amount: number; unit?: NamedReward["unit"] }, isGain?: boolean): string;
}

export function createTranslator(language: string, dictionary: AnyDictionary): Translator {
  const plurals = new Intl.PluralRules(language);
  const numbers = new Intl.NumberFormat(language);
  const gains = new Intl.NumberFormat(language, { signDisplay: "always" });

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

  return {
    language,
    parts,
    text: (key, ...[values]) =>
      parts(key, values)
        .map(({ text }) => text)
        .join(""),
    amount({ amount, unit }, isGain) {
      const number = (isGain ? gains : numbers).format(amount);
      const tag = unit && [language, "en", ...Object.keys(unit)].find((each) => unit[each]);
      const forms = tag && unit[tag];
      if (!forms) return number;
      return `${number} ${forms[new Intl.PluralRules(tag).select(amount)] ?? forms.other}`;
    },
  };
}

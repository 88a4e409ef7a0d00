type Forms = Partial<Record<Intl.LDMLPluralRule, string>> & { readonly other: string };

/** Returns a function `(count) => "5 coins"` with the language's plural rules. */
export function countWords(language: string, forms: Forms): (count: number) => string {
  const rules = new Intl.PluralRules(language);
  const digits = new Intl.NumberFormat(language);
  return (count) => `${digits.format(count)} ${forms[rules.select(count)] ?? forms.other}`;
}

/** Formats a wait in a natural unit, rounded up. */
export function waitWords(
  units: Readonly<Record<"seconds" | "minutes" | "hours", (count: number) => string>>,
): (seconds: number) => string {
  return (seconds) => {
    if (seconds <= 90) return units.seconds(Math.ceil(seconds));
    if (seconds <= 90 * 60) return units.minutes(Math.ceil(seconds / 60));
    return units.hours(Math.ceil(seconds / 3600));
  };
}

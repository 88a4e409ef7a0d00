type Forms = Partial<Record<Intl.LDMLPluralRule, string>> & { readonly other: string };

/** Makes `(count) => "5 coins"` with the language's own plural. */
export function countWords(language: string, forms: Forms): (count: number) => string {
  const rules = new Intl.PluralRules(language);
  const digits = new Intl.NumberFormat(language);
  return (count) => `${digits.format(count)} ${forms[rules.select(count)] ?? forms.other}`;
}

/** Says a wait in the unit that a person would use, never too short. */
export function waitWords(
  units: Readonly<Record<"seconds" | "minutes" | "hours", (count: number) => string>>,
): (seconds: number) => string {
  return (seconds) => {
    if (seconds <= 90) return units.seconds(Math.ceil(seconds));
    if (seconds <= 90 * 60) return units.minutes(Math.ceil(seconds / 60));
    return units.hours(Math.ceil(seconds / 3600));
  };
}

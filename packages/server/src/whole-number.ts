/** How large a whole number that a person writes may be, and how it is written where that is clear. */

type WholeNumberReading = { outcome: "number"; value: number } | { outcome: "refused"; message: string };

export interface WholeNumberBounds {
  min: number;
  max?: number;
}

const MAX_DIGITS = 15;
const digitGroups = /^[1-9]\d{0,2}(?:([,.'’_]|\p{Zs})\d{3})(?:\1\d{3})*$/u;

/** Reads digits only: a setting or an option that a shell, a sheet or another program has changed is refused. */
export function readWholeNumber(text: string, { min, max }: WholeNumberBounds): WholeNumberReading {
  const range = max === undefined ? (min === 0 ? "" : ` from ${min}`) : ` from ${min} to ${max}`;
  const refused = (hint: string): WholeNumberReading => ({
    outcome: "refused",
    message: `must be a whole number${range}${hint === "" ? "" : `: ${hint}`}`,
  });
  if (!/^\d+$/.test(text)) return refused(formHint(text));
  const value = Number(text);
  return text.length > MAX_DIGITS || value < min || value > (max ?? value) ? refused("") : { outcome: "number", value };
}

function formHint(text: string): string {
  if (text.length > 40) return "write it in digits";
  if (text !== text.trim()) return "write it without blanks";
  if (digitGroups.test(text)) return `write ${text.replaceAll(/\D/g, "")}`;
  if (/^\+\d+$/.test(text)) return `write ${text.slice(1)}`;
  if (/^[-−]\d/.test(text)) return "it is not negative";
  if (/^\d+[.,]0*$/.test(text)) return `write ${text.replace(/[.,].*$/, "")}`;
  if (/^\d+[.,]\d+$/.test(text)) return "it has no decimals";
  return "write it in digits";
}

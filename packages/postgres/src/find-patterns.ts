/**
 * For each word of a text a regular expression of PostgreSQL that finds it in any case: for `text ~ all (patterns)`. SQL's own
 * `lower` knows only ASCII letters in a database with the locale C. What is searched is normalized as the words are (NFKC), since
 * macOS composes letters otherwise than it shows them.
 */
export function findPatterns(text: string | undefined): string[] {
  const words = (text ?? "").normalize("NFKC").split(/\s+/);
  return words.filter((word) => word !== "").map((word) => [...word].map(inAnyCase).join(""));
}

function inAnyCase(letter: string): string {
  const forms = new Set([letter, letter.toLowerCase(), letter.toUpperCase()].filter((form) => [...form].length === 1));
  if (forms.size > 1) return `[${[...forms].join("")}]`;
  return /[!-/:-@[-`{-~]/.test(letter) ? `\\${letter}` : letter;
}

/**
 * Whether PostgreSQL stores a text unchanged: it refuses NUL, and half a surrogate pair is read back as a different text, so
 * that two keys could become one.
 */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

/** The rule of such a field, for its error. */
export const storableForm = "must be well-formed text without U+0000";

/**
 * The gate for text of third parties that says something and identifies nothing: what PostgreSQL stores of it, as text or in
 * JSON, in at most `maxLength` UTF-16 units. U+0000 is left out, half a surrogate pair becomes U+FFFD, and it is cut between
 * characters. What identifies is refused instead, by `isStorable`: two keys must not become one.
 */
export function storableText(text: string, maxLength: number): string {
  const stored = text.replaceAll("\0", "").toWellFormed();
  if (stored.length <= maxLength) return stored;
  return stored.slice(0, maxLength).replace(/[\ud800-\udbff]$/, "");
}

/**
 * Whether PostgreSQL stores a text unchanged: it refuses NUL, and half a surrogate pair is read back as a different text, so
 * that two keys could become one.
 */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

/** The rule of such a field, for its error. */
export const storableForm = "must be well-formed text without U+0000";

const LONGEST_TEXT_BYTES = 4 * 1024;

const lossy = new TextDecoder();

/**
 * The text of an answer for the log: at most 4 KiB of UTF-8, cut between characters. Invalid UTF-8 becomes U+FFFD. U+0000
 * is removed: PostgreSQL refuses it, and a log that cannot be written must never cause another send.
 */
export function answerText(bytes: Uint8Array): string {
  const text = lossy.decode(bytes).replaceAll("\0", "");
  if (Buffer.byteLength(text) <= LONGEST_TEXT_BYTES) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(LONGEST_TEXT_BYTES));
  return text.slice(0, read);
}

const LONGEST_TEXT_BYTES = 4 * 1024;

const lossy = new TextDecoder();

/**
 * What a log keeps of an answer: at most 4 KiB of UTF-8, cut between characters. Bytes that are no UTF-8 become U+FFFD;
 * U+0000 goes, since PostgreSQL refuses it and a log that cannot be written must never cause another send.
 */
export function answerText(bytes: Uint8Array): string {
  const text = lossy.decode(bytes).replaceAll("\0", "");
  if (Buffer.byteLength(text) <= LONGEST_TEXT_BYTES) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(LONGEST_TEXT_BYTES));
  return text.slice(0, read);
}

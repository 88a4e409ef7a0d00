import { type Row, recordOf, rowsOf, tableOf, textOf } from "@intermission/server/command-tables";

/** A delivery and its attempts: for each a line of numbers, and below it the answer. */
export function showDelivery(delivery: Row): string {
  const { log: _, body, explanation, advice, ...facts } = delivery;
  const attempts = rowsOf(delivery, "log");
  const [heads = "", ...lines] = tableOf(attempts, columns).split("\n");
  const withAnswers = lines.flatMap((line, index) => [line, ...wordsOf(attempts[index] ?? {}, attempts[index - 1])]);
  return `${recordOf({ ...facts, why: explanation, ...(advice !== undefined && { advice }), body })}\n\n${[heads, ...withAnswers].join("\n")}`;
}

const columns = {
  "#": (attempt: Row) => attempt.attempt,
  AT: (attempt: Row) => attempt.startedAt,
  RESULT: (attempt: Row) => attempt.status ?? attempt.errorClass ?? "unknown",
  "DNS MS": (attempt: Row) => attempt.dnsMs,
  "TCP MS": (attempt: Row) => attempt.tcpMs,
  "TLS MS": (attempt: Row) => attempt.tlsMs,
  "1ST BYTE MS": (attempt: Row) => attempt.firstByteMs,
  "ALL MS": (attempt: Row) => attempt.totalMs,
  ADDRESS: (attempt: Row) => attempt.address,
  "NEXT AT": (attempt: Row) => attempt.nextAt,
};

function wordsOf(attempt: Row, earlier: Row | undefined): string[] {
  const words = [];
  if (attempt.url !== earlier?.url) words.push(`    to: ${textOf(attempt.url)}`);
  if (attempt.isReplay) words.push("    sent again by a replay");
  if (attempt.responseText) words.push(`    answer: ${textOf(attempt.responseText)}`);
  return words;
}

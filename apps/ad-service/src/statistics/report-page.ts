import { comparePositions, positionOf, type ReportQuestion, type ReportRow, type RowPosition } from "./read-report.ts";

type ReportPage = { outcome: "page"; rows: ReportRow[]; next: string | null } | { outcome: "bad-cursor" };

/** The rows behind a cursor, which is the position of the last row of the page before: figures may have grown since. */
export function pageOf(
  rows: readonly ReportRow[],
  question: ReportQuestion,
  { cursor, limit }: { cursor: string | undefined; limit: number },
): ReportPage {
  const last = cursor === undefined ? undefined : readCursor(cursor, question);
  if (cursor !== undefined && last === undefined) return { outcome: "bad-cursor" };
  const left =
    last === undefined ? rows : rows.filter((row) => comparePositions(positionOf(row, question), last, question) > 0);
  const page = left.slice(0, limit);
  const end = page.at(-1);
  return { outcome: "page", rows: page, next: end && left.length > limit ? cursorOf(positionOf(end, question)) : null };
}

type StoredPosition = [kind: string, value: string, ...keys: string[]];

function cursorOf({ value, keys }: RowPosition): string {
  const stored: StoredPosition = [value === null ? "null" : typeof value, String(value), ...keys];
  return Buffer.from(JSON.stringify(stored)).toString("base64url");
}

/** Undefined for text that is no cursor, or one of a report by other dimensions. */
function readCursor(cursor: string, { by }: ReportQuestion): RowPosition | undefined {
  let stored: unknown;
  try {
    stored = JSON.parse(Buffer.from(cursor, "base64url").toString());
  } catch {
    return undefined;
  }
  if (!Array.isArray(stored) || !stored.every((part) => typeof part === "string")) return undefined;
  const [kind, text = "", ...keys] = stored as StoredPosition;
  if (keys.length !== by.length) return undefined;
  if (kind === "null") return { value: null, keys };
  if (kind === "bigint") return /^-?\d{1,60}$/.test(text) ? { value: BigInt(text), keys } : undefined;
  return Number.isFinite(Number(text)) ? { value: Number(text), keys } : undefined;
}

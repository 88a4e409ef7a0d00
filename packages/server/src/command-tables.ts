import { amountOf } from "@intermission/operator-api/amounts";
import Table from "cli-table3";
import { z } from "zod";

const sides = ["top", "bottom", "left", "right", "mid"] as const;
const places = sides.flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`]);
const withoutLines = Object.fromEntries([...places, "middle"].map((place) => [place, ""]));

/** A row of the server's answer, with any fields. */
export type Row = Record<string, unknown>;

export const row = z.record(z.string(), z.unknown());

export function rowsOf(answer: unknown, name: string): Row[] {
  return z.array(row).parse(row.parse(answer)[name]);
}

/** A table with headings, for people. */
export function tableOf<One = Row>(rows: readonly One[], columns: Record<string, (row: One) => unknown>): string {
  if (rows.length === 0) return "none";
  const table = new Table({
    head: Object.keys(columns),
    chars: withoutLines,
    style: { head: [], border: [], "padding-left": 0, "padding-right": 2 },
  });
  for (const one of rows) table.push(Object.values(columns).map((cell) => textOf(cell(one))));
  return trimLines(table.toString());
}

/** One record: a line for each of its fields. */
export function recordOf(fields: Row): string {
  const width = Math.max(...Object.keys(fields).map((name) => name.length));
  return Object.entries(fields)
    .map(([name, value]) => `${name.padEnd(width)}  ${textOf(value)}`)
    .join("\n");
}

/** A record as people read it: only what is set, with money as amounts. */
export function withAmounts(record: Row): Row {
  const present = Object.entries(record).filter(([, value]) => value !== null);
  return Object.fromEntries(
    present.map(([name, value]) => {
      const amount = name.endsWith("Micros") ? amountIn(value) : undefined;
      return amount === undefined ? [name, value] : [name.slice(0, -6), amount];
    }),
  );
}

/** Undefined for what are no micros. */
export function amountIn(micros: unknown): string | undefined {
  return typeof micros === "number" || typeof micros === "bigint" ? amountOf(micros) : undefined;
}

/** Quoted where RFC 4180 requires it. Text that a spreadsheet would read as a formula begins with an apostrophe; numbers stay. */
export function csvField(value: unknown): string {
  const plain = value === null || value === undefined ? "" : String(value);
  const isFormula = typeof value === "string" && /^[=+\-@\t\r]/.test(value) && !/^-?\d+(\.\d+)?$/.test(value);
  const text = isFormula ? `'${plain}` : plain;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A file of comma-separated values as it is printed, byte for byte: the last line break is the printer's. */
export function printedCsv(file: string): string {
  return file.replace(/\r\n$/, "\r");
}

/** A value as text for people, without control characters. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined || value === "") return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.length === 0 ? "–" : value.map(textOf).join(", ");
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return withoutControls(text).replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)\.\d+Z$/, "$1 $2Z");
}

/** Names and answers of third parties must not move the operator's cursor. */
function withoutControls(text: string): string {
  return text.replace(/\p{Cc}/gu, " ");
}

function trimLines(text: string): string {
  return text.replace(/ +$/gm, "");
}

import { amountOf } from "@intermission/operator-api/amounts";
import Table from "cli-table3";

const sides = ["top", "bottom", "left", "right", "mid"] as const;
const places = sides.flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`]);
const withoutLines = Object.fromEntries([...places, "middle"].map((place) => [place, ""]));

/** A row of the server's answer, with any fields. */
export type Row = Record<string, unknown>;

/** By heading: a field of the row, of which money is shown as an amount, or what is made of the row. */
export type Columns<One> = Readonly<Record<string, (keyof One & string) | ((row: One) => unknown)>>;

/** The values of a row, in the order of the columns. */
export function cellsOf<One>(row: One, columns: Columns<One>): (string | number | bigint | null)[] {
  return Object.values(columns).map((column) => {
    const value = typeof column === "function" ? column(row) : fieldOf(row, column);
    if (value === null || value === undefined) return null;
    return typeof value === "number" || typeof value === "bigint" || typeof value === "string" ? value : textOf(value);
  });
}

function fieldOf<One>(row: One, name: keyof One & string): unknown {
  return name.endsWith("Micros") ? amountIn(row[name]) : row[name];
}

/** A table with headings, for people. */
export function tableOf<One>(rows: readonly One[], columns: Columns<One>): string {
  if (rows.length === 0) return "none";
  const table = new Table({
    head: Object.keys(columns),
    chars: withoutLines,
    style: { head: [], border: [], "padding-left": 0, "padding-right": 2 },
  });
  for (const one of rows) table.push(cellsOf(one, columns).map(textOf));
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

import type { FieldFault } from "@intermission/operator-api/field-faults";
import { fieldFault } from "@intermission/operator-api/field-forms";

/** What a partner's report says of one day. */
interface ReportedDay {
  day: string;
  /** Null: the report has no such column. */
  impressions: number | null;
  amountMicros: number;
}

interface ReportColumns {
  day: string;
  impressions: string;
  amount: string;
}

type ReportReading =
  | { outcome: "days"; days: ReportedDay[] }
  | { outcome: "refused"; message: string; fault: FieldFault };

const MAX_ROWS = 100_000;
const DAY = /^(\d{4}-\d{2}-\d{2})(?:[T ].*)?$/;
const COUNT = /^\d{1,12}$/;
const AMOUNT = /^(-?)(\d{1,12})(?:\.(\d{1,18}))?$/;
const MICRO_DIGITS = 6;

/**
 * Reads a file of comma-separated values (RFC 4180; also with semicolons or tabs) with heads in its first row. Rows of one day are
 * added. Amounts are read from their decimal text, rounded down to the millionth.
 */
export function readReport(text: string, columns: ReportColumns): ReportReading {
  const [heads, ...rows] = rowsOf(text.replace(/^\uFEFF/, ""));
  if (heads === undefined || rows.length === 0)
    return refused("has no rows below its heads", fieldFault("REPORT_EMPTY"));
  if (rows.length > MAX_ROWS)
    return refused(`has more than ${MAX_ROWS} rows`, fieldFault("REPORT_TOO_LONG", { max: String(MAX_ROWS) }));
  const placeOf = (name: string) => heads.findIndex((head) => head.trim().toLowerCase() === name.trim().toLowerCase());
  const places = {
    day: placeOf(columns.day),
    amount: placeOf(columns.amount),
    impressions: placeOf(columns.impressions),
  };
  const missing = places.day < 0 ? columns.day : places.amount < 0 ? columns.amount : undefined;
  if (missing !== undefined) {
    const known = heads.join(", ").slice(0, 300);
    const fault = fieldFault("REPORT_COLUMN", { column: missing, heads: known });
    return refused(`has no column ${missing}; its heads are: ${known}`, fault);
  }
  const days = new Map<string, ReportedDay>();
  for (const [index, row] of rows.entries()) {
    const cells = { day: row[places.day], impressions: row[places.impressions], amount: row[places.amount] };
    const read = readRow(cells);
    if (typeof read === "string") {
      const [place, text] = [String(index + 2), (cells[read] ?? "").trim().slice(0, 40)];
      const fault = fieldFault("REPORT_CELL", { row: place, column: columns[read], text });
      return refused(
        `has in row ${place}, column ${columns[read]}, what cannot be read: "${text}"; ${forms[read]}`,
        fault,
      );
    }
    const known = days.get(read.day) ?? { day: read.day, impressions: null, amountMicros: 0 };
    known.amountMicros += read.amountMicros;
    if (read.impressions !== null) known.impressions = (known.impressions ?? 0) + read.impressions;
    days.set(read.day, known);
  }
  return { outcome: "days", days: [...days.values()].toSorted((a, b) => a.day.localeCompare(b.day)) };
}

function refused(message: string, fault: FieldFault): ReportReading {
  return { outcome: "refused", message, fault };
}

const forms = {
  day: "days are written as 2026-03-01",
  impressions: "impressions are whole numbers",
  amount: "amounts are written as 12.34",
} satisfies Record<keyof ReportColumns, string>;

/** The column that cannot be read, or the row. */
function readRow(row: Readonly<Record<keyof ReportColumns, string | undefined>>): ReportedDay | keyof ReportColumns {
  const [day = "", count = "", amount = ""] = [row.day, row.impressions, row.amount].map((cell) => cell?.trim());
  const date = DAY.exec(day)?.[1];
  if (date === undefined || !isDay(date)) return "day";
  if (count !== "" && !COUNT.test(count)) return "impressions";
  const [, sign, whole, fraction = ""] = AMOUNT.exec(amount) ?? [];
  if (whole === undefined) return "amount";
  const amountMicros = Number(whole + fraction.padEnd(MICRO_DIGITS, "0").slice(0, MICRO_DIGITS));
  if (!Number.isSafeInteger(amountMicros)) return "amount";
  return {
    day: date,
    impressions: count === "" ? null : Number(count),
    amountMicros: sign === "-" ? -amountMicros : amountMicros,
  };
}

function isDay(date: string): boolean {
  const at = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(date);
}

/** Cells of each row that is not blank. The separator is the one of the heads. */
function rowsOf(text: string): string[][] {
  const head = text.slice(0, text.search(/[\r\n]|$/));
  const separator = [",", ";", "\t"].find((one) => head.includes(one)) ?? ",";
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = "";
  let isQuoted = false;
  const endCell = () => {
    row.push(cell);
    cell = "";
  };
  const endRow = () => {
    endCell();
    if (row.some((one) => one.trim() !== "")) rows.push(row);
    row = [];
  };
  for (let at = 0; at < text.length; at++) {
    const letter = text[at] ?? "";
    if (isQuoted && letter === '"' && text[at + 1] === '"') {
      cell += '"';
      at += 1;
    } else if (letter === '"' && (isQuoted || cell.trim() === "")) {
      isQuoted = !isQuoted;
      if (isQuoted) cell = "";
    } else if (isQuoted) cell += letter;
    else if (letter === separator) endCell();
    else if (letter === "\n") endRow();
    else if (letter !== "\r") cell += letter;
  }
  endRow();
  return rows;
}

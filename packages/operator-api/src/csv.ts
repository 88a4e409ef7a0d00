/** Tells spreadsheets that a file is UTF-8: without it, some read each letter beyond ASCII as two others. */
const BYTE_ORDER_MARK = "\uFEFF";
/** What begins a formula in a spreadsheet; some read the full-width forms alike. */
const formula = /^[=+\-@\t\r\n＝＋－＠]/;
const number = /^-?\d+(\.\d+)?$/;

export type CsvValue = string | number | bigint | boolean | Date | null | undefined;

/**
 * The only writer of files of comma-separated values (RFC 4180), in UTF-8 with its mark. Lines end with CR LF; times are ISO 8601
 * in UTC; what is absent is empty; text that a spreadsheet would run as a formula begins with an apostrophe.
 */
export function csvOf(rows: readonly (readonly CsvValue[])[]): string {
  return BYTE_ORDER_MARK + rows.map((row) => `${row.map(fieldOf).join(",")}\r\n`).join("");
}

function fieldOf(value: CsvValue): string {
  if (value === null || value === undefined) return "";
  const plain = value instanceof Date ? value.toISOString() : String(value);
  const text = formula.test(plain) && !number.test(plain) ? `'${plain}` : plain;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

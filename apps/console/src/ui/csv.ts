/** What would begin a formula in a spreadsheet. */
const formula = /^[=+\-@\t\r]/;

function cellOf(value: string | number | Date | null | undefined): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const text = value instanceof Date ? value.toISOString() : value;
  const neutral = formula.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(neutral) ? `"${neutral.replaceAll('"', '""')}"` : neutral;
}

/**
 * A table as CSV (RFC 4180): lines end with CR LF; times are ISO 8601 in UTC; text that a spreadsheet would run as a formula
 * begins with an apostrophe.
 */
export function csvOf(
  header: readonly string[],
  rows: readonly (readonly (string | number | Date | null | undefined)[])[],
): string {
  return [header, ...rows].map((row) => `${row.map(cellOf).join(",")}\r\n`).join("");
}

/** Saves a text as a file of the reader's. The mark at its beginning says UTF-8 to spreadsheets. */
export function saveCsv(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob(["\uFEFF", text], { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}

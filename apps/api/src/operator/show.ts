import Table from "cli-table3";

const sides = ["top", "bottom", "left", "right", "mid"] as const;
const places = sides.flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`]);
const withoutLines = Object.fromEntries([...places, "middle"].map((place) => [place, ""]));

type Cell = string | number | null;

/** A table with headings, for people. */
export function tableOf<Row>(rows: readonly Row[], columns: Record<string, (row: Row) => Cell>): string {
  if (rows.length === 0) return "none";
  const table = new Table({
    head: Object.keys(columns),
    chars: withoutLines,
    style: { head: [], border: [], "padding-left": 0, "padding-right": 2 },
  });
  for (const row of rows) table.push(Object.values(columns).map((cell) => textOf(cell(row))));
  return table.toString().replace(/ +$/gm, "");
}

function textOf(value: Cell): string {
  if (value === null || value === "") return "–";
  // Text from third parties must not move the operator's cursor.
  const text = String(value).replace(/\p{Cc}/gu, " ");
  return text.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)\.\d+Z$/, "$1 $2Z");
}

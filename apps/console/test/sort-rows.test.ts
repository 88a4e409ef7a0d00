import { expect, test } from "vitest";
import { nextSort, type Sortable, sortRows } from "../src/ui/sort-rows.ts";

interface Row {
  name: string;
  spent: number | null;
  ends: Date | null;
}

const name = { id: "name", sortBy: (row: Row) => row.name };
const spent = { id: "spent", isNumber: true, sortBy: (row: Row) => row.spent };
const ends = { id: "ends", sortBy: (row: Row) => row.ends };
const columns: Sortable<Row>[] = [name, spent, ends, { id: "actions" }];
const rows: Row[] = [
  { name: "Ёлка 10", spent: 5, ends: null },
  { name: "ёлка 9", spent: null, ends: new Date(2000) },
  { name: "Жук", spent: -3, ends: new Date(1000) },
  { name: "Еда", spent: 5, ends: new Date(3000) },
];
const names = (sort: string | undefined) => sortRows(rows, columns, sort, "ru").map((row) => row.name);

test("texts are sorted as the language has them, and numbers in them by their value", () => {
  expect(names("name")).toEqual(["Еда", "ёлка 9", "Ёлка 10", "Жук"]);
  expect(names("-name")).toEqual(["Жук", "Ёлка 10", "ёлка 9", "Еда"]);
});

test("rows without a value come last in both directions, and equal ones keep their places", () => {
  expect(names("spent")).toEqual(["Жук", "Ёлка 10", "Еда", "ёлка 9"]);
  expect(names("-spent")).toEqual(["Ёлка 10", "Еда", "Жук", "ёлка 9"]);
  expect(names("ends")).toEqual(["Жук", "ёлка 9", "Еда", "Ёлка 10"]);
});

test("an address that names no column that can be sorted leaves the rows as they are", () => {
  for (const sort of [undefined, "unknown", "-actions"]) expect(sortRows(rows, columns, sort, "en")).toBe(rows);
});

test("three presses on a head lead through both orders and back, numbers from the largest down first", () => {
  expect(nextSort(undefined, name)).toBe("name");
  expect(nextSort("name", name)).toBe("-name");
  expect(nextSort("-name", name)).toBeUndefined();
  expect(nextSort("name", spent)).toBe("-spent");
  expect(nextSort("-spent", spent)).toBe("spent");
});

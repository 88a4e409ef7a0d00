import { expect, test } from "vitest";
import { chosenKeys } from "../src/ui/chosen-keys.ts";

const keys = ["a", "b", "c", "d", "e"];

test("a range goes from the row that was pressed before, whatever was chosen last", () => {
  const press = { keys, key: "d", isChosen: true };
  expect([...chosenKeys(new Set(["e", "a"]), { ...press, from: "c" })].toSorted()).toEqual(["a", "c", "d", "e"]);
  expect([...chosenKeys(new Set(), { ...press, key: "a", from: "c" })].toSorted()).toEqual(["a", "b", "c"]);
});

test("without a row before in the table, the row is chosen alone; a box that is cleared is cleared alone", () => {
  expect([...chosenKeys(new Set(["a"]), { keys, key: "d", isChosen: true, from: undefined })]).toEqual(["a", "d"]);
  expect([...chosenKeys(new Set(["a"]), { keys, key: "d", isChosen: true, from: "gone" })]).toEqual(["a", "d"]);
  expect([...chosenKeys(new Set(["a", "b"]), { keys, key: "b", isChosen: false, from: "a" })]).toEqual(["a"]);
});

import { expect, test } from "vitest";
import { meantBy } from "../src/forms/meant-by.ts";

const [german, dutch] = [
  { value: "DE", text: "Germany (DE)" },
  { value: "NL", text: "Netherlands (NL)" },
];

test("Enter chooses the first one that is found, and never another one in its place", () => {
  const found = [german, dutch];
  expect(meantBy("de", { found, chosen: [] })).toEqual(german);
  expect(meantBy("de", { found, chosen: ["DE"] })).toBeUndefined();
});

test("Enter chooses nothing where nothing was searched for, or nothing is found", () => {
  expect(meantBy(" ", { found: [german], chosen: [] })).toBeUndefined();
  expect(meantBy("de", { found: [], chosen: [] })).toBeUndefined();
  expect(meantBy("de", { found: undefined, chosen: [] })).toBeUndefined();
});

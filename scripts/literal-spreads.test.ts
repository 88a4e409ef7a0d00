import { expect, test } from "vitest";
import { findLiteralSpreads } from "./literal-spreads.ts";

test.each([
  ["in a list", 'const names = [\n  ...["a", "b"],\n];'],
  ["as a constant", 'const names = [\n  ...(["a", "b"] as const),\n] as const;'],
  ["in a call", 'run("a",\n  ...["b", "c"]);'],
  ["in an object", "const sizes = {\n  ...{ width: 1, height: 2 },\n};"],
])("a literal that is spread %s is found, with its place and what to do", (_where, text) => {
  expect(findLiteralSpreads("a.ts", text)).toEqual([
    'a.ts:2: a literal is spread: write its entries; where rows read better, put "// biome-ignore format: packed" above',
  ]);
});

test.each([
  ["what a condition adds", 'const names = ["a", ...(isLong ? ["b"] : [])]; const one = { ...(id && { id }) };'],
  ["what a call returns", 'const names = [..."a b".split(" "), ...["a"].map(String)];'],
  ["a list that has a name", 'const letters = new Set([...names, "c"]);'],
])("%s may be spread", (_what, text) => {
  expect(findLiteralSpreads("a.ts", text)).toEqual([]);
});

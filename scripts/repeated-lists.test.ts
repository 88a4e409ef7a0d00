import { expect, test } from "vitest";
import { repeatedLists, wordListsOf } from "./repeated-lists.ts";

const faultsOf = (...texts: string[]) => repeatedLists(texts.flatMap((text, at) => wordListsOf(`${at}.ts`, text)));

test.each([
  ["options of a command", 'const levels = z.enum(["low", "high"]);', 'option.choices(["high", "low"]);'],
  ["a union", 'export const levels = ["low", "high"] as const;', 'interface Row { level: "low" | "high" | null }'],
  [
    "a second schema",
    'export type Level = "low" | "high";',
    'const row = z.object({ level: z.enum(["low", "high"]) });',
  ],
])("a closed list that %s repeats is found, with both places", (_what, one, other) => {
  expect(faultsOf(one, `\n${other}`)).toEqual([
    expect.stringMatching(/^0.ts:1, 1.ts:2: the words high, low are listed/),
  ]);
});

test.each([
  ["a part of the words", 'const levels = z.enum(["low", "middle", "high"]);', 'const some = ["low", "high"];'],
  [
    "lists without a type of their own",
    'type Size = Pick<Box, "width" | "height">;',
    'const keys = ["width", "height"];',
  ],
  ["a list that is derived", 'export const levels = ["low", "high"] as const;', "const level = z.enum(levels);"],
])("%s is none", (_what, one, other) => {
  expect(faultsOf(one, other)).toEqual([]);
});

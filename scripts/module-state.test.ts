import { expect, test } from "vitest";
import { findModuleState } from "./module-state.ts";

const file = "apps/api/src/ledger/rewards.ts";

test.each([
  ["a variable", "let running = 0;"],
  ["an exported variable", "export let running: number | undefined;"],
  ["a map", "const running = new Map<string, number>();"],
  ["an exported set", "export const running = new Set();"],
  ["a cache", "const running = new LRUCache<string, string>({ max: 100 });"],
])("%s at module level is found, with its place and what to do", (_what, declaration) => {
  expect(findModuleState(file, `import "./a.ts";\n\n${declaration}\n`)).toEqual([
    `${file}:3: running is state of the module: make it a field of an object that main.ts or app.ts opens and passes`,
  ]);
});

test.each([
  ["constants", 'const names = new Set(["a"]); const most = 3; const sizes = new Map([["a", 1]]);'],
  [
    "what a function holds",
    "export function open() { let running = 0; const known = new Map(); return { running, known }; }",
  ],
  ["marks on objects, which end with them", "const broken = new WeakSet(); const routesOf = new WeakMap();"],
  ["types", "declare let running: number;"],
])("%s are no state", (_what, text) => {
  expect(findModuleState(file, text)).toEqual([]);
});

test("state of a test and of a page is their own", () => {
  for (const own of ["apps/api/src/ledger/a.test.ts", "apps/miniapp/src/a.ts", "packages/testing/src/a.ts"])
    expect(findModuleState(own, "let running = 0;")).toEqual([]);
});

test("an exception is allowed by its file, and is reported once it is not needed", () => {
  expect(findModuleState("packages/server/src/random-bytes.ts", "let pool = 0;")).toEqual([]);
  expect(findModuleState("packages/server/src/random-bytes.ts", "const pool = 0;")).toEqual([
    expect.stringContaining("holds no state any more"),
  ]);
});

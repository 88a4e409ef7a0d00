import { expect, test } from "vitest";
import { findUndeclaredInputs } from "./turbo-inputs.ts";

const file = "apps/api/test/a.test.ts";
const inputsOf = (folder: string) => (folder === "apps/api" ? ["e2e/kill"] : []);

test.each([
  'import { a } from "../../../scripts/a.ts";',
  'import "../../../scripts/a.ts";',
  'export { a } from "../../../scripts/a.ts";',
  'await import("../../../scripts/a.ts");',
])("an import that leaves its package, and is no input of its task, is found: %s", (text) => {
  expect(findUndeclaredInputs(file, text, inputsOf)).toEqual([expect.stringContaining(`${file} imports scripts/a.ts`)]);
});

test.each([
  'import { a } from "../../../e2e/kill/a.ts";',
  'import { a } from "../src/a.ts";',
  'import { a } from "@intermission/server/a";',
  `const program = 'import "../../../scripts/a.ts";';`,
])("an import of an input, of the package itself or of a dependency is none: %s", (text) => {
  expect(findUndeclaredInputs(file, text, inputsOf)).toEqual([]);
});

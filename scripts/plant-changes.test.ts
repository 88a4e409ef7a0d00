// @module-tag long
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { countChanges } from "./plant-changes.ts";
import { plantedChanges } from "./planted-changes.ts";
import { root } from "./processes.ts";

test("the recipes in CONTRIBUTING.md name the files of each change", () => {
  const recipes = readFileSync(join(root, "CONTRIBUTING.md"), "utf8");
  const files = plantedChanges.flatMap((change) => change.files.map(({ file }) => file));
  const known = files.filter((file) => existsSync(join(root, file)) && !file.endsWith("/ru.json"));
  expect(known.filter((file) => !recipes.includes(basename(file)))).toEqual([]);
});

test("a usual change takes as few files as it may, and nobody can forget one of them", () => {
  const { changes, faults } = countChanges();
  expect(faults).toEqual([]);
  expect(changes.filter(({ silent }) => silent.length > 0)).toEqual([]);
  expect(changes.filter(({ files, maxFiles }) => files > maxFiles)).toEqual([]);
  // Compilers and databases, twenty times.
}, 1_200_000);

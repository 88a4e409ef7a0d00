import { expect, test } from "vitest";
import { sections } from "../src/shell/sections.ts";

test("each section has an icon, a letter and an address of its own", () => {
  for (const field of ["icon", "letter", "to"] as const) {
    const values = sections.map((section) => section[field]);
    expect(values.filter((value, index) => values.indexOf(value) !== index)).toEqual([]);
  }
});

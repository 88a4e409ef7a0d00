import { describe, expect, test } from "vitest";
import { findScreenTexts } from "./screen-texts.ts";

describe("a text of a screen in code is found:", () => {
  test.each([
    ["in an element", "<p>Saved</p>"],
    ["beside a word", "<p>{words.saved} in Berlin</p>"],
    ["as an expression", '<p>{"Saved"}</p>'],
    ["in another script", "<p>Сохранено</p>"],
    ["in what is heard", '<button aria-label="Close" />'],
  ])("%s", (_, element) => {
    const [fault = "", ...others] = findScreenTexts("a.tsx", `export const a = (\n  ${element}\n);`);
    expect(fault).toMatch(/^a\.tsx:2: ".+" is a text of a screen/);
    expect(others).toEqual([]);
  });
});

describe("what is no text of a screen is left out:", () => {
  test.each([
    ["words of a catalog", "<p>{words.saved}</p>"],
    ["signs", "<p> – {a} × {b}</p>"],
    ["the product's name", "<p>Intermission</p>"],
    ["an address that shows a form", '<input placeholder="https://tags.example/vast" />'],
    ["a class", '<p className="secondary" />'],
  ])("%s", (_, element) => {
    expect(findScreenTexts("a.tsx", `export const a = ${element};`)).toEqual([]);
  });
});

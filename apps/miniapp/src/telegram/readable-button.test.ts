import { expect, test } from "vitest";
import { contrastOf, readableButton } from "./readable-button.ts";

test("black on white has the contrast that WCAG defines", () => {
  expect(contrastOf("#000000", "#ffffff")).toBeCloseTo(21);
  expect(contrastOf("#777777", "#ffffff")).toBeCloseTo(4.48, 2);
  expect(contrastOf("#fff", "#ffffff")).toBe(1);
});

test.each([
  { background: "#2481cc", text: "#ffffff" },
  { background: "#3390ec", text: "#ffffff" },
  { background: "#8774e1", text: "#fff" },
  { background: "#ffd60a", text: "#000000" },
  { background: "#888888", text: "#888888" },
])("$text on $background becomes readable with the smallest change", ({ background, text }) => {
  const button = readableButton(background, text);
  expect(contrastOf(button.background, button.text)).toBeGreaterThanOrEqual(4.5);
});

test("a readable pair is not changed", () => {
  expect(readableButton("#0b5394", "#ffffff")).toEqual({ background: "#0b5394", text: "#ffffff" });
});

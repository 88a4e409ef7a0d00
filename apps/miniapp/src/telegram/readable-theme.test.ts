import fc from "fast-check";
import { expect, test } from "vitest";
import { contrastOf, type Palette, readablePalette } from "./readable-theme.ts";

const readable = {
  background: "#ffffff",
  surface: "#efeff3",
  text: "#14171c",
  button: "#0b5394",
  buttonText: "#ffffff",
  good: "#146b31",
  bad: "#b3261e",
};

test("black on white has the contrast that WCAG defines", () => {
  expect(contrastOf("#000000", "#ffffff")).toBeCloseTo(21);
  expect(contrastOf("#777777", "#ffffff")).toBeCloseTo(4.48, 2);
  expect(contrastOf("#fff", "#ffffff")).toBe(1);
});

test("colours that can be read are not changed", () => {
  expect(readablePalette(readable)).toMatchObject(readable);
});

test.each([
  { button: "#2481cc", buttonText: "#ffffff", background: "#ffffff" },
  { button: "#8774e1", buttonText: "#ffffff", background: "#212121" },
  { button: "#2ea6ff", buttonText: "#ffffff", background: "#18222d" },
])("Telegram's button $button on $background keeps its white label", (theme) => {
  const palette = readablePalette({ ...readable, text: "#888888", ...theme });
  expect(palette.buttonText).toBe("#ffffff");
  expect(palette.background).toBe(theme.background);
  expectReadable(palette);
});

test("every theme becomes readable: texts at 4.5, the edge of a button at 3", () => {
  const colour = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, "0")}`);
  const theme = { background: colour, surface: colour, text: colour, button: colour, buttonText: colour };
  fc.assert(
    fc.property(fc.record({ ...theme, good: colour, bad: colour }), (colours) => {
      const palette = readablePalette(colours);
      expect(palette.background).toBe(colours.background);
      expectReadable(palette);
    }),
  );
});

function expectReadable({ background, surface, button, buttonText, ...texts }: Palette): void {
  const contrasts = Object.values(texts).flatMap((text) => [contrastOf(text, background), contrastOf(text, surface)]);
  expect(Math.min(...contrasts, contrastOf(button, buttonText))).toBeGreaterThanOrEqual(4.5);
  expect(contrastOf(button, background)).toBeGreaterThanOrEqual(3);
}

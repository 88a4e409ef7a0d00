import { expect, test } from "vitest";
import { shortcutKey } from "../src/ui/use-shortcuts.ts";

test("a shortcut is its Latin letter where the keyboard writes another script, and what it writes elsewhere", () => {
  // Of a Russian, a Greek and a Hebrew keyboard.
  expect(shortcutKey({ key: "л", code: "KeyK" })).toBe("k");
  expect(shortcutKey({ key: "П", code: "KeyG" })).toBe("g");
  expect(shortcutKey({ key: "κ", code: "KeyK" })).toBe("k");
  expect(shortcutKey({ key: "ל", code: "KeyK" })).toBe("k");
  // Where Dvorak has the letter.
  expect(shortcutKey({ key: "k", code: "KeyV" })).toBe("k");
  expect(shortcutKey({ key: "/", code: "Slash" })).toBe("/");
  expect(shortcutKey({ key: "é", code: "Digit2" })).toBe("é");
});

import { format } from "node:util";
import { afterEach, beforeEach } from "vitest";

/** An unexpected console.error fails the test that called it. */
const written: string[] = [];

beforeEach(() => {
  written.length = 0;
  console.error = (...words: unknown[]) => void written.push(format(...words));
});

afterEach(() => {
  if (written.length > 0) throw new Error(`console.error was called:\n${written.join("\n")}`);
});

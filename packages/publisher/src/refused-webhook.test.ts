import { expect, test } from "vitest";
import { type LoggedRefusals, refusalLine } from "./refused-webhook.ts";

test("of each kind of refusal one line a minute is logged, and the next one counts those between", () => {
  const logged: LoggedRefusals = new Map();
  const line = (kind: string, seconds: number) => refusalLine({ kind, message: kind }, logged, seconds * 1000);
  expect(line("stale", 0)).toBe("a webhook was refused: stale");
  expect([1, 30, 59.9].map((seconds) => line("stale", seconds))).toEqual([undefined, undefined, undefined]);
  expect(line("missing-signature", 30)).toBe("a webhook was refused: missing-signature");
  expect(line("stale", 60)).toBe("a webhook was refused: stale (and 3 more like it since the last line)");
  expect(line("stale", 120)).toBe("a webhook was refused: stale");
  // The clock was set back by an hour.
  expect(line("stale", -3600)).toBe("a webhook was refused: stale");
});

import { expect, test } from "vitest";
import { isTooOld } from "./offer-age.ts";

const openedAt = new Date("2026-03-01T12:00:00Z");
const after = (minutes: number) => new Date(openedAt.getTime() + minutes * 60_000);
const offer = { state: "opened", openedAt } as const;

test("every offer ends after 90 minutes, a VAST ad's also with its Expires, and a started view never", () => {
  expect(isTooOld(offer, undefined, after(90))).toBe(false);
  expect(isTooOld(offer, undefined, after(91))).toBe(true);
  expect(isTooOld(offer, { expiresAt: after(10).toISOString() }, after(9))).toBe(false);
  expect(isTooOld(offer, { expiresAt: after(10).toISOString() }, after(10))).toBe(true);
  expect(isTooOld({ state: "playing", openedAt }, { expiresAt: after(10).toISOString() }, after(200))).toBe(false);
});

import { accessOf } from "@intermission/operator-api/access";
import { expect, test } from "vitest";
import { neededFor } from "../src/shell/sections.ts";

test("a screen is for the roles that may use its section's route; a screen within it may need more", () => {
  const isFor = (role: "analyst" | "advertiser" | "publisher", path: string) => {
    const { section, change } = neededFor(path);
    return [section, change].every((needs) => {
      const rule = needs === undefined ? "signed-in" : accessOf[needs];
      return typeof rule === "string" || role in rule;
    });
  };
  expect(isFor("advertiser", "/campaigns/cmp_1")).toBe(true);
  expect(isFor("advertiser", "/campaigns/new")).toBe(false);
  expect(isFor("advertiser", "/bots/7000000001")).toBe(false);
  expect(isFor("publisher", "/bots/7000000001")).toBe(true);
  expect(isFor("publisher", "/bots/new")).toBe(false);
  expect(isFor("publisher", "/audit")).toBe(false);
  expect(isFor("analyst", "/approval")).toBe(false);
  for (const path of ["/", "/campaignsnew"])
    expect(neededFor(path), path).toEqual({ section: undefined, change: undefined });
  expect(isFor("analyst", "/account")).toBe(true);
});

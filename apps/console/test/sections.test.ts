import { readFileSync } from "node:fs";
import type { Role } from "@intermission/operator-api/access";
import { routesOf } from "@intermission/operator-api/operator-routes";
import { expect, test } from "vitest";
import { neededFor, sectionGroups, sections, tabsOf } from "../src/shell/sections.ts";

test("a screen is for the roles that may use its section's route; a screen within it may need more", () => {
  const isFor = (role: "analyst" | "advertiser" | "publisher", path: string) => {
    const { section, change } = neededFor(path);
    return [section, change].every((needs) => {
      return needs === undefined || routesOf(role).includes(needs);
    });
  };
  expect(isFor("advertiser", "/campaigns/cmp_1")).toBe(true);
  expect(isFor("advertiser", "/campaigns/new")).toBe(true);
  expect(isFor("analyst", "/campaigns/new")).toBe(false);
  expect(isFor("advertiser", "/bots/7000000001")).toBe(false);
  expect(isFor("publisher", "/bots/7000000001")).toBe(true);
  expect(isFor("publisher", "/bots/new")).toBe(false);
  expect(isFor("publisher", "/audit")).toBe(false);
  expect(isFor("analyst", "/approval")).toBe(false);
  for (const path of ["/", "/campaignsnew"])
    expect(neededFor(path), path).toEqual({ section: undefined, change: undefined });
  expect(isFor("analyst", "/account")).toBe(true);
});

test("each screen is one of a section, or is reached in another way", () => {
  const routes = readFileSync(new URL("../src/routes.tsx", import.meta.url), "utf8");
  const paths = [...routes.matchAll(/^ {2}path: "([^"]+)"/gm)].map(([, path]) => path ?? "");
  expect(paths.length).toBeGreaterThan(20);
  const outside = paths.filter((path) => path !== "/" && neededFor(path).section === undefined);
  expect(outside).toEqual(["/invitation", "/sign-in-link", "/openid", "/email", "/account", "/alerts"]);
});

test("the menu's order is that of its groups, and no letter leads to two sections", () => {
  expect([...new Set(sections.map(({ group }) => group))]).toEqual(sectionGroups);
  const order = sections.map(({ group }) => sectionGroups.indexOf(group));
  expect(order).toEqual(order.toSorted((one, other) => one - other));
  expect(new Set(sections.map(({ letter }) => letter)).size).toBe(sections.length);
});

test("one tap away on a phone are the first section of each group, and up to four in all", () => {
  const tabsFor = (role: Role) =>
    tabsOf(sections.filter(({ needs }) => routesOf(role).includes(needs))).map(({ word }) => word);
  expect(tabsFor("owner")).toEqual(["overview", "campaigns", "bots", "reports"]);
  expect(tabsFor("ad-ops")).toEqual(["overview", "campaigns", "bots", "reports"]);
  expect(tabsFor("advertiser")).toEqual(["overview", "campaigns", "creatives", "reports"]);
  expect(tabsFor("publisher")).toEqual(["overview", "bots", "publisher", "reports"]);
  expect(tabsFor("finance")).toEqual(["overview", "publisher", "reports", "advertisers"]);
});

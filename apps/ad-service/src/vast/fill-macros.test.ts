import { expect, test } from "vitest";
import { fillMacros } from "./fill-macros.ts";

const macros = { now: new Date("2026-03-01T12:00:00Z"), chance: 0.12345678 };

test.each([
  [
    "https://t.example/?cb=[CACHEBUSTING]&t=[TIMESTAMP]",
    "https://t.example/?cb=12345678&t=2026-03-01T12%3A00%3A00.000Z",
  ],
  ["https://t.example/e/[errorcode]?c=%5BERRORCODE%5D", "https://t.example/e/403?c=403"],
  ["https://t.example/?at=[ADPLAYHEAD]&m=[MEDIAPLAYHEAD]", "https://t.example/?at=00%3A00%3A07.500&m=00%3A00%3A07.500"],
  ["https://t.example/?u=[ASSETURI]", "https://t.example/?u=https%3A%2F%2Fcdn.example%2Fa%20%28b%29%27.mp4"],
  ["https://t.example/?ip=[DEVICEIP]&ifa=[IFA]", "https://t.example/?ip=-2&ifa=-2"],
  ["https://t.example/?g=[GDPRCONSENT]", "https://t.example/?g=-1"],
  ["https://t.example/?ids[]=1&user[NAME]=[AA]", "https://t.example/?ids[]=1&user[NAME]=[AA]"],
  ["https://[TIMESTAMP].example/", "https://[TIMESTAMP].example/"],
  ["https://t.example", "https://t.example"],
  ["https://t.example?cb=[CACHEBUSTING]", "https://t.example?cb=12345678"],
  [
    "https://t.example/?c=%%ERRORCODE%%&d=%%CACHEBUSTER%%&s=100%%ID%%",
    "https://t.example/?c=403&d=12345678&s=100%%ID%%",
  ],
])("%s", (template, filled) => {
  const event = { errorCode: 403, playheadMs: 7500, assetUri: "https://cdn.example/a (b)'.mp4" };
  expect(fillMacros(template, { ...macros, ...event })).toBe(filled);
});

test("a template of many macros with long values gives a URL of bounded length", () => {
  const template = `https://t.example/?u=${"[DEVICEUA][CACHEBUSTING]".repeat(170)}`;
  const filled = fillMacros(template, { ...macros, userAgent: "ü".repeat(16_000) });
  expect(filled.length).toBeLessThan(template.length + 9 * 1024);
  expect(filled).toMatch(/^https:\/\/t\.example\/\?u=-112345678-1/);
});

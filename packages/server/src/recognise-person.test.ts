import { crawlerAgents, libraryAgents, misjudgedAgents, personAgents } from "@intermission/testing/visitor-agents";
import { describe, expect, test } from "vitest";
import { openKnownAgents, type RequestHeaders, recognisePerson } from "./visitor.ts";

const agents = openKnownAgents();

const phone = personAgents[0] ?? "";
const person: RequestHeaders = { "user-agent": phone, "accept-language": "ru,en;q=0.8", host: "ads.test" };

test("the list of crawlers to recognise has at least 40 entries", () => {
  expect(new Set(crawlerAgents).size).toBeGreaterThanOrEqual(40);
});

test.each(crawlerAgents)("a machine: %s", (agent) => {
  expect(recognisePerson(agents, "GET", { ...person, "user-agent": agent })).toEqual({
    kind: "machine",
    reason: "crawler",
  });
  expect(recognisePerson(agents, "POST", { ...person, "user-agent": agent })).toEqual({
    kind: "machine",
    reason: "crawler",
  });
});

test.each(libraryAgents)("a library, and so a machine: %s", (agent) => {
  expect(recognisePerson(agents, "GET", { ...person, "user-agent": agent })).toEqual({
    kind: "machine",
    reason: "library",
  });
});

test.each(misjudgedAgents)("may be a person (%s), and can pass with a tap: %s", (reason, agent) => {
  const headers = { ...person, "user-agent": agent };
  expect(recognisePerson(agents, "GET", headers)).toEqual({ kind: "doubtful", reason });
  expect(recognisePerson(agents, "POST", { ...headers, "sec-fetch-site": "same-origin" })).toEqual({ kind: "person" });
  expect(recognisePerson(agents, "HEAD", headers)).toEqual({ kind: "machine", reason: "head" });
});

test.each(personAgents)("a person: %s", (agent) => {
  expect(recognisePerson(agents, "GET", { ...person, "user-agent": agent })).toEqual({ kind: "person" });
});

test.each([
  ["brackets", `Mozilla/5.0 (${"(a)".repeat(5000)}`],
  ["letters", `Mozilla/5.0 (X) Gecko ${"a".repeat(15_000)}`],
  ["blanks", `Mozilla/5.0 (X) Gecko bot ${" ".repeat(15_000)}x`],
])("an agent of 15 kB of %s is judged immediately", (_what, agent) => {
  const start = process.threadCpuUsage();
  for (let round = 0; round < 100; round++) recognisePerson(agents, "GET", { ...person, "user-agent": agent });
  // The time of this thread: others keep a busy machine's processors, too.
  expect(process.threadCpuUsage(start).user / 1000 / 100).toBeLessThan(20);
});

describe("what the headers reveal", () => {
  test.each([
    ["an empty agent", "GET", { "user-agent": "" }, { kind: "machine", reason: "empty-agent" }],
    ["a blank agent", "GET", { "user-agent": "  " }, { kind: "machine", reason: "empty-agent" }],
    ["no agent", "GET", { "user-agent": undefined }, { kind: "machine", reason: "empty-agent" }],
    ["HEAD", "HEAD", {}, { kind: "machine", reason: "head" }],
    ["a speculative prefetch", "GET", { "sec-purpose": "prefetch" }, { kind: "machine", reason: "prefetch" }],
    ["a prerender", "GET", { "sec-purpose": "prefetch;prerender" }, { kind: "machine", reason: "prefetch" }],
    ["an older prefetch", "GET", { purpose: "prefetch" }, { kind: "machine", reason: "prefetch" }],
    ["a prefetch of Firefox", "GET", { "x-moz": "prefetch" }, { kind: "machine", reason: "prefetch" }],
    ["a preview of Safari", "GET", { "x-purpose": "preview" }, { kind: "machine", reason: "prefetch" }],
    ["an image on a page", "GET", { "sec-fetch-dest": "image" }, { kind: "doubtful", reason: "embedded" }],
    ["a frame", "GET", { "sec-fetch-dest": "iframe" }, { kind: "doubtful", reason: "embedded" }],
    ["a script's fetch", "GET", { "sec-fetch-dest": "empty" }, { kind: "doubtful", reason: "embedded" }],
    ["no language", "GET", { "accept-language": undefined }, { kind: "doubtful", reason: "no-language" }],
    [
      "a page that navigates the browser without a tap",
      "GET",
      { "sec-ch-ua": '"Chromium"', "sec-fetch-dest": "document", "sec-fetch-site": "cross-site" },
      { kind: "doubtful", reason: "scripted" },
    ],
    [
      "a tap on another site's link",
      "GET",
      {
        "sec-ch-ua": '"Chromium"',
        "sec-fetch-dest": "document",
        "sec-fetch-site": "cross-site",
        "sec-fetch-user": "?1",
      },
      { kind: "person" },
    ],
    [
      "Safari, which never reports taps",
      "GET",
      { "sec-fetch-dest": "document", "sec-fetch-site": "cross-site" },
      { kind: "person" },
    ],
    ["our own form", "POST", { "sec-fetch-site": "same-origin", origin: "https://ads.test" }, { kind: "person" }],
    ["our own form, older browser", "POST", { origin: "https://ads.test" }, { kind: "person" }],
    ["our own form, no origin", "POST", {}, { kind: "person" }],
    [
      "another site's form",
      "POST",
      { "sec-fetch-site": "cross-site", origin: "https://evil.test" },
      { kind: "doubtful", reason: "foreign-form" },
    ],
    [
      "another site's form, older browser",
      "POST",
      { origin: "https://evil.test" },
      { kind: "doubtful", reason: "foreign-form" },
    ],
    ["our own form, its origin hidden", "POST", { origin: "null" }, { kind: "person" }],
  ] as const)("%s", (_what, method, headers, visitor) => {
    expect(recognisePerson(agents, method, { ...person, ...headers })).toEqual(visitor);
  });
});

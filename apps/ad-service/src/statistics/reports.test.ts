import { httpOperatorClient, type OperatorClient } from "@intermission/server/operator-client";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { Command } from "commander";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AppFixture, openAppFixture } from "../../test/fixtures/app-fixture.ts";
import {
  anyFact,
  type Fact,
  insertBotsAndCampaigns,
  insertFacts,
  momentOf,
  revenueOf,
  rollUpUntilNow,
} from "../../test/fixtures/facts-fixture.ts";
import { migrations } from "../migrations.ts";
import { statsAnswer, statsCommands } from "./commands.ts";

const operatorToken = "o".repeat(32);
/** Facts of March and the first week of April 2026: clocks change in New York on 8 March, in Berlin on 29 March, on Lord Howe on 5 April. */
const DAYS = 38;
const spread = fc.nat(DAYS * 24 - 1);
const facts = fc.sample(
  fc.tuple(anyFact, spread).map(([fact, hour]): Fact => ({ ...fact, hour })),
  { numRuns: 400, seed: 34 },
);

let store: TestDatabase;
let fixture: AppFixture;
let client: OperatorClient;

beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  fixture = await openAppFixture(store.database, { operatorToken });
  fixture.clock.now = new Date("2026-04-20T12:00:00Z");
  client = httpOperatorClient({ url: fixture.address, operatorToken });
  await insertBotsAndCampaigns(store.database);
  await store.database.transaction((tx) => insertFacts(tx, facts));
  await rollUpUntilNow(store.database);
});
afterAll(async () => {
  await client.close();
  await fixture.close();
  await store.dispose();
});

type Query = Record<string, string>;
const read = async (query: Query) => (await client.call({ method: "GET", path: "/stats", query })) as Answer;
interface Answer {
  rows: (Record<string, unknown> & { key: string; keys: Record<string, string>; before?: Record<string, unknown> })[];
  total: Record<string, unknown>;
  next: string | null;
  countedUntil?: string;
  comparison?: { from: string; to: string; total: Record<string, unknown> };
}

/** What the command line prints. */
async function printed(...words: string[]): Promise<string> {
  let text = "";
  const program = new Command().exitOverride();
  const print = (_answer: unknown, asText: () => string) => {
    text = `${asText()}\n`;
  };
  statsCommands(program, { ...client, print, copy: async () => {}, isJson: () => false });
  await program.parseAsync(["stats", ...words], { from: "user" });
  return text;
}

/** The lines of a CSV file by their columns, which follow the lines that name its period. */
function linesOf(file: string): Record<string, string>[] {
  const [, table = ""] = file.split("\r\n\r\n");
  const [head = "", ...lines] = table.trimEnd().split("\r\n");
  const columns = head.split(",");
  return lines.map((line) => Object.fromEntries(line.split(",").map((value, index) => [columns[index] ?? "", value])));
}

/** The plain model: each fact by itself, its day or hour as the zone's own calendar shows it. */
function modelOf(of: readonly Fact[], timeZone: string, by: readonly ("day" | "hour" | "bot" | "campaign")[]) {
  const format = new Intl.DateTimeFormat("sv-SE", {
    timeZone,
    dateStyle: "short",
    timeStyle: "long",
    hourCycle: "h23",
  });
  const offset = new Intl.DateTimeFormat("en", { timeZone, timeZoneName: "longOffset" });
  const partOf = {
    day: (fact: Fact) => format.format(momentOf(fact)).slice(0, 10),
    hour: (fact: Fact) => {
      const name = offset.formatToParts(momentOf(fact)).find(({ type }) => type === "timeZoneName")?.value ?? "";
      return `${format.format(momentOf(fact)).slice(0, 13).replace(" ", "T")}:00:00${name.replace("GMT", "")}`;
    },
    bot: ({ botId }: Fact) => botId,
    campaign: (fact: Fact) => ("campaignId" in fact ? (fact.campaignId ?? "") : ""),
  };
  const model: Record<string, Record<string, number>> = {};
  for (const fact of of) {
    const key = by.map((one) => partOf[one](fact)).join(" ");
    const row = model[key] ?? { ...nothing };
    model[key] = row;
    const count = countedAs(fact);
    row[count] = (row[count] ?? 0) + 1;
    if (fact.kind !== "event" && fact.kind !== "refund") continue;
    const sign = fact.kind === "event" ? 1 : -1;
    row.spendMicros = (row.spendMicros ?? 0) + sign * fact.priceMicros;
    row.revenueMicros = (row.revenueMicros ?? 0) + sign * revenueOf(fact);
  }
  return model;
}

const nothing = Object.fromEntries(
  [
    "fills",
    "noFillCount",
    "limitedCount",
    "starts",
    "midpoints",
    "completions",
    "closeCount",
    "rewards",
    "clicks",
    "refundCount",
    "clicksRefusedCount",
    "taps",
    "conversions",
    "spendMicros",
    "revenueMicros",
  ].map((name) => [name, 0]),
);

function countedAs(fact: Fact): string {
  switch (fact.kind) {
    case "request":
      return { filled: "fills", "no-ad": "noFillCount", limited: "limitedCount" }[fact.outcome];
    case "milestone":
      return { start: "starts", midpoint: "midpoints", complete: "completions", close: "closeCount" }[fact.milestone];
    case "event":
      return fact.format === "rewarded" ? "rewards" : "clicks";
    case "refund":
      return "refundCount";
    case "refusal":
      return "clicksRefusedCount";
    default:
      return fact.kind === "tap" ? "taps" : "conversions";
  }
}

const pick = (row: Record<string, unknown>) =>
  Object.fromEntries(Object.keys(nothing).map((name) => [name, Number(row[name])]));
const isEmpty = (row: Record<string, number>) => Object.values(row).every((value) => value === 0);
const byKey = (rows: Answer["rows"]) =>
  Object.fromEntries(
    rows.map((row) => [row.key, pick(row)]).filter(([, row]) => !isEmpty(row as Record<string, number>)),
  );

const zones = [
  "UTC",
  "Asia/Tehran",
  "Asia/Kolkata",
  "Asia/Kathmandu",
  "Europe/Berlin",
  "America/New_York",
  "Australia/Lord_Howe",
  "Pacific/Apia",
];

describe("a report agrees to the unit with the raw rows", () => {
  test.each(zones)("by the days of %s, as JSON, as CSV and on the command line", async (timeZone) => {
    const period = { timeZone, from: "2026-02-27", to: "2026-04-10" };
    for (const by of [["day"], ["bot", "day", "campaign"]] as ("day" | "bot" | "campaign")[][]) {
      const model = modelOf(facts, timeZone, by);
      const query = { ...period, by: by.join(",") };
      const answer = await read(query);
      expect(byKey(answer.rows)).toEqual(model);
      expect(pick(answer.total)).toEqual(pick(modelOf(facts, timeZone, [])[""] ?? {}));
      const file = (await client.call({ method: "GET", path: "/stats.csv", query })) as string;
      const lines = linesOf(file).map((line) => [
        by.length === 1 ? line.key : by.map((one) => line[one]).join(" "),
        pick(line),
      ]);
      expect(Object.fromEntries(lines.filter(([, row]) => !isEmpty(row as Record<string, number>)))).toEqual(model);
      const words = [
        "--time-zone",
        timeZone,
        "--from",
        "2026-02-27T00:00Z",
        "--to",
        "2026-04-10T00:00Z",
        "--by",
        query.by,
      ];
      expect(await printed(...words, "--format", "csv")).toBe(file);
    }
  });

  test.each(zones.slice(1))("by the hours of %s around a change of its clocks", async (timeZone) => {
    for (const day of ["2026-03-08", "2026-03-29", "2026-04-05"]) {
      const from = Date.parse(`${day}T00:00:00Z`) - 86_400_000;
      const to = from + 3 * 86_400_000;
      const within = facts.filter((fact) => momentOf(fact).getTime() >= from && momentOf(fact).getTime() < to);
      const query = { timeZone, by: "hour", from: new Date(from).toISOString(), to: new Date(to).toISOString() };
      const { rows } = await read(query);
      // A bound within an hour of the zone is widened to that hour.
      const inner = Object.keys(byKey(rows)).slice(1, -1);
      const model = modelOf(within, timeZone, ["hour"]);
      expect(Object.fromEntries(inner.map((key) => [key, byKey(rows)[key]]))).toEqual(
        Object.fromEntries(inner.map((key) => [key, model[key]])),
      );
    }
  });

  test("the lines of the table on the command line add up to the total of the raw rows", async () => {
    const text = await printed("--time-zone", "Asia/Tehran", "--from", "2026-02-28", "--to", "2026-04-09");
    const model = modelOf(facts, "Asia/Tehran", [])[""] ?? {};
    expect(text).toMatch(new RegExp(`in all +${(model.fills ?? 0) + (model.noFillCount ?? 0)} `));
  });

  test("a filter by campaign or bot counts what the raw rows of it are", async () => {
    const query = { by: "day", timeZone: "Asia/Kolkata", from: "2026-02-27", to: "2026-04-10" };
    const ofBot = facts.filter(({ botId }) => botId === "910");
    expect(byKey((await read({ ...query, botId: "910" })).rows)).toEqual(modelOf(ofBot, "Asia/Kolkata", ["day"]));
    const ofCampaign = facts.filter((fact) => "campaignId" in fact && fact.campaignId === "cmp_a");
    expect(byKey((await read({ ...query, campaignId: "cmp_a" })).rows)).toEqual(
      modelOf(ofCampaign, "Asia/Kolkata", ["day"]),
    );
  });
});

describe("a report", () => {
  const period = { from: "2026-03-01", to: "2026-04-08" };

  test("has each row once in its order, over pages of any size, and the same total on each", async () => {
    for (const orderBy of [{}, { orderBy: "spendMicros" }, { orderBy: "fillRate", order: "ascending" }] as Query[]) {
      const query = { ...period, by: "day,campaign", ...orderBy };
      const whole = await read(query);
      const rows: unknown[] = [];
      for (let cursor: string | null = ""; cursor !== null; ) {
        const page = await read({ ...query, limit: "40", ...(cursor !== "" && { cursor }) });
        rows.push(...page.rows);
        expect(page.total).toEqual(whole.total);
        cursor = page.next;
      }
      expect(rows).toEqual(whole.rows);
    }
  });

  test("is ordered by a figure, rows without the figure last", async () => {
    const { rows } = await read({ ...period, by: "campaign,day", orderBy: "fillRate", order: "ascending" });
    const rates = rows.map(({ fillRate }) => fillRate as number | null);
    const known = rates.filter((rate) => rate !== null);
    expect(rates).toEqual([...known.toSorted((a, b) => a - b), ...rates.filter((rate) => rate === null)]);
  });

  test("is compared with the range before, row by row, also over a change of clocks", async () => {
    const week = { timeZone: "Europe/Berlin", from: "2026-03-29T23:00:00Z", by: "day" };
    const query = { ...week, from: "2026-03-29T22:00:00Z", to: "2026-04-05T22:00:00Z" };
    const { rows, comparison } = await read({ ...query, compare: "previous" });
    // Seven days of 23 + 6 · 24 hours.
    expect(comparison).toMatchObject({ from: "2026-03-22T23:00:00.000Z", to: "2026-03-29T22:00:00.000Z" });
    const before = await read({
      timeZone: "Europe/Berlin",
      by: "day",
      from: comparison?.from ?? "",
      to: comparison?.to ?? "",
    });
    expect(rows.map((row) => pick(row.before ?? {}))).toEqual(before.rows.map(pick));
    expect(comparison?.total).toEqual(before.total);
    const short = { ...query, from: "2026-04-02T22:00:00Z", to: "2026-04-04T22:00:00Z", compare: "weekdays" };
    expect((await read(short)).comparison).toMatchObject({
      from: "2026-03-26T23:00:00.000Z",
      to: "2026-03-28T23:00:00.000Z",
    });
  });

  test("says until when it counts, and does not count what was committed since", async () => {
    const before = await read({ ...period, by: "bot" });
    await store.database.transaction((tx) =>
      insertFacts(tx, [{ kind: "request", outcome: "filled", campaignId: "cmp_a", botId: "910", hour: 1, second: 1 }]),
    );
    const after = await read({ ...period, by: "bot" });
    expect(after.total).toEqual(before.total);
    expect(after.countedUntil).toBe(before.countedUntil);
    await rollUpUntilNow(store.database);
    const later = await read({ ...period, by: "bot" });
    expect(Number(later.total.fills)).toBe(Number(before.total.fills) + 1);
    expect(Date.parse(later.countedUntil ?? "")).toBeGreaterThan(Date.parse(before.countedUntil ?? ""));
  });

  test.each([
    [{ by: "day,weather" }, /^by: must be 1 to 4 of hour, day, bot, .*, separated by commas$/],
    [{ by: "day,day" }, /each once/],
    [{ by: "day,hour" }, /must not have both hour and day/],
    [{ by: "creative,country" }, /must not combine creative with country/],
    [{ cursor: "bogus" }, /^cursor is not the next of a page of this report$/],
    [{ orderBy: "luck" }, /orderBy/],
    [{ limit: "0" }, /^limit: must be a whole number from 1 to 1000/],
    [{ timeZone: "+03:30" }, /must be a time zone such as Europe\/Berlin/],
    [{ by: "hour", from: "2026-01-01" }, /must be at most 31 days before the end, by hour/],
  ])("refuses %j with the reason", async (query, message) => {
    await expect(read({ ...period, ...query } as Query)).rejects.toThrow(message);
  });

  test("parses on the command line as it is answered", async () => {
    const query = { ...period, by: "day,bot", compare: "previous" };
    expect(statsAnswer.parse(await read(query)).rows.length).toBeGreaterThan(50);
    expect(await printed("--from", "2026-03-01", "--to", "2026-03-08", "--compare", "previous")).toMatch(
      /compared with 2026-02-22.* to 2026-03-01.*: requests \d+ from 0/,
    );
  });
});

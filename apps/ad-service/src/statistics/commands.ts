import { amountOf, roundedAmount, roundedParts } from "@intermission/operator-api/amounts";
import { operatorRequest } from "@intermission/operator-api/operator-request";
import { withExamples } from "@intermission/server/command-line";
import { pastMomentOption, telegramIdOption } from "@intermission/server/command-options";
import { tableOf, textOf } from "@intermission/server/command-tables";
import { type CommandContext, callForRow } from "@intermission/server/operator-client";
import { type Command, Option } from "commander";
import { z } from "zod";
import { conversionSum } from "../conversions/commands.ts";
import { startOfDay } from "./days-in-zone.ts";

const bars = [..."▁▂▃▄▅▆▇█"];

/** A series of numbers as a line of bars: the highest is full, and zero is a blank. */
export function sparkline(values: readonly number[]): string {
  const highest = Math.max(...values, 0);
  return values
    .map((value) => (value <= 0 ? " " : bars[Math.min(bars.length - 1, Math.floor((value / highest) * bars.length))]))
    .join("");
}

/** Amounts have fewer decimals from these on, so that a line stays within 120 columns. */
const decimalsFrom = [
  { micros: 10_000_000_000_000n, decimals: 0 },
  { micros: 1_000_000_000n, decimals: 2 },
  { micros: 0n, decimals: 4 },
] as const;

const reasons = z.record(z.string(), z.number());
const share = z.number().nullable();
/** A number, or a bigint where a double would lose digits. */
const micros = z.union([z.bigint(), z.int()]).transform(BigInt);
const figures = z.object({
  requests: z.number(),
  fills: z.number(),
  fillRate: share,
  noFills: reasons,
  limited: reasons,
  requestsRefused: reasons,
  starts: z.number(),
  firstQuartiles: z.number(),
  midpoints: z.number(),
  thirdQuartiles: z.number(),
  completions: z.number(),
  completionRate: share,
  closes: reasons,
  rewards: z.number(),
  viewsHeld: reasons,
  viewsRefused: reasons,
  clicks: z.number(),
  clicksRefused: reasons,
  playbackFaults: reasons,
  taps: z.number(),
  tapRate: share,
  refunds: reasons,
  conversions: z.number(),
  spendMicros: micros,
  revenueMicros: micros,
  ecpmMicros: micros.nullable(),
});
type Figures = z.infer<typeof figures>;

/** The part of the answer of `/operator/v1/stats` that is shown. */
export const statsAnswer = z.object({
  currency: z.string(),
  by: z.string(),
  timeZone: z.string().default("UTC"),
  from: z.string(),
  to: z.string(),
  countedUntil: z.string().optional(),
  rows: z.array(figures.extend({ key: z.string(), name: z.string().optional() })),
  total: figures,
  conversionSums: z.array(conversionSum).default([]),
  deliveries: z
    .object({ delivered: z.number(), underWay: z.number(), failed: z.number(), successRate: share })
    .optional(),
});
type StatsAnswer = z.infer<typeof statsAnswer>;
type Line = Figures & { key: string; name?: string | undefined };
/** A line of the table, with its money as text: the lines add up to the total. */
type MoneyLine = Line & { spend: string; revenue: string; ecpm: string | undefined };

export function showStats(answer: StatsAnswer): string {
  const isInTime = answer.by === "hour" || answer.by === "day";
  return [
    `${textOf(answer.from)} to ${textOf(answer.to)}, days in ${answer.timeZone}; money in ${answer.currency}`,
    "",
    tableOf(moneyLines(answer), columnsOf(answer)),
    "",
    ...(isInTime ? courses(answer.rows) : []),
    ...reasonsOf(answer.total),
    ...(answer.total.taps > 0 ? [`taps on calls to action: ${answer.total.taps}`] : []),
    ...conversionsOf(answer),
    ...deliveriesOf(answer),
    `counted until: ${textOf(answer.countedUntil)}`,
  ].join("\n");
}

/** A line for each row, without the total; each reason has a column of its own. Amounts are in millionths and in the currency. */
export function statsCsv({ rows, total, currency }: StatsAnswer): string {
  const flatten = ({ name, ...row }: Line) => ({
    ...(name !== undefined && { name }),
    ...flattenReasons(row),
    currency,
    spend: amountOf(row.spendMicros),
    revenue: amountOf(row.revenueMicros),
    ecpm: row.ecpmMicros === null ? null : amountOf(row.ecpmMicros),
  });
  const flat = rows.map(flatten);
  // A report without rows has its columns, too: those of the total.
  const names = [...new Set(["key", ...[...flat, flatten({ key: "", ...total })].flatMap((row) => Object.keys(row))])];
  // A missing count is 0; a missing name or share is empty.
  const fieldOf = (row: Record<string, unknown>, name: string) => row[name] ?? (name.includes(".") ? 0 : "");
  return [names, ...flat.map((row) => names.map((name) => fieldOf(row, name)))]
    .map((values) => values.map(csvField).join(","))
    .join("\n");
}

/** All amounts have the same number of decimals. CSV and JSON have the millionths. */
function moneyLines({ rows, total }: StatsAnswer): MoneyLine[] {
  const lines: Line[] = [...rows, { ...total, key: "in all" }];
  const all = lines.flatMap(({ spendMicros, revenueMicros, ecpmMicros }) => [
    spendMicros,
    revenueMicros,
    ecpmMicros ?? 0n,
  ]);
  const { decimals } = decimalsFrom.find(({ micros }) => all.some((one) => one >= micros || -one >= micros)) ?? {
    decimals: 4,
  };
  const partsOf = (of: (line: Figures) => bigint) => [
    ...roundedParts(rows.map(of), decimals),
    roundedAmount(of(total), decimals),
  ];
  const spend = partsOf(({ spendMicros }) => spendMicros);
  const revenue = partsOf(({ revenueMicros }) => revenueMicros);
  return lines.map((line, index) => ({
    ...line,
    spend: spend[index] ?? "",
    revenue: revenue[index] ?? "",
    ecpm: line.ecpmMicros === null ? undefined : roundedAmount(line.ecpmMicros, decimals),
  }));
}

function columnsOf({ by, currency }: StatsAnswer): Record<string, (line: MoneyLine) => unknown> {
  // Keeps the line within 120 columns, beside the largest numbers.
  const maxNameLength = by === "bot" ? 7 : 14;
  return {
    [by.toUpperCase()]: ({ key, name }) => (name === undefined ? key : `${key} ${name.slice(0, maxNameLength)}`),
    // An unfilled request belongs to no campaign.
    ...(by !== "campaign" &&
      by !== "creative" && {
        REQUESTS: ({ requests }) => requests,
        FILLED: ({ fillRate }) => percent(fillRate),
      }),
    STARTS: ({ starts }) => starts,
    WATCHED: ({ completionRate }) => percent(completionRate),
    REWARDS: ({ rewards }) => rewards,
    CTR: ({ tapRate }) => percent(tapRate),
    CLICKS: ({ clicks }) => clicks,
    REFUSED: ({ clicksRefused }) => sumOf(clicksRefused),
    [`SPEND ${currency}`]: ({ spend }) => spend,
    [`REVENUE ${currency}`]: ({ revenue }) => revenue,
    ECPM: ({ ecpm }) => ecpm,
  };
}

function courses(rows: readonly Line[]): string[] {
  if (rows.length < 2) return [];
  const course = (name: string, of: (line: Line) => number) => `${name.padEnd(9)}${sparkline(rows.map(of))}`;
  const lines = [course("requests", (row) => row.requests), course("rewards", (row) => row.rewards)];
  return [...lines, course("clicks", (row) => row.clicks), course("revenue", (row) => Number(row.revenueMicros)), ""];
}

function reasonsOf(total: Figures): string[] {
  const { noFills, limited, requestsRefused, closes, viewsHeld, viewsRefused, playbackFaults, clicksRefused, refunds } =
    total;
  const all = {
    "no fill": noFills,
    "kept from asking": limited,
    "requests refused": requestsRefused,
    closed: closes,
    "views held": viewsHeld,
    "views refused": viewsRefused,
    "playback faults": playbackFaults,
    "clicks refused": clicksRefused,
    refunds,
  };
  return Object.entries(all)
    .filter(([, counts]) => sumOf(counts) > 0)
    .map(([name, counts]) => {
      const sorted = Object.entries(counts).toSorted(([, a], [, b]) => b - a);
      return `${name}: ${sorted.map(([reason, count]) => `${reason} ${count}`).join(", ")}`;
    });
}

/** Each event and currency by itself: installs and purchases are no sum. */
function conversionsOf({ conversionSums, total }: StatsAnswer): string[] {
  if (conversionSums.length === 0) return total.conversions > 0 ? [`conversions: ${total.conversions}`] : [];
  const parts = conversionSums.map(({ event, currency, conversions, valueMicros, reversed }) => {
    const value = valueMicros === 0n ? "" : ` worth ${roundedAmount(valueMicros, 2)} ${currency}`;
    return `${event === "" ? "without a name" : event} ${conversions}${value}${reversed > 0 ? `, ${reversed} reversed` : ""}`;
  });
  return [`conversions: ${parts.join("; ")}`];
}

function deliveriesOf({ deliveries }: StatsAnswer): string[] {
  if (!deliveries) return [];
  const { delivered, underWay, failed, successRate } = deliveries;
  return [`webhooks: ${delivered} delivered (${percent(successRate) ?? "–"}), ${underWay} under way, ${failed} failed`];
}

function sumOf(counts: Record<string, number>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

function percent(part: number | null): string | undefined {
  return part === null ? undefined : `${(part * 100).toFixed(1)} %`;
}

function flattenReasons(row: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).flatMap(([name, value]) => {
      if (typeof value !== "object" || value === null) return [[name, value]];
      return Object.entries(value).map(([reason, count]) => [`${name}.${reason}`, count]);
    }),
  );
}

/** Quoted where RFC 4180 requires it; a field that a spreadsheet would read as a formula gets an apostrophe prefix. */
function csvField(value: unknown): string {
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

interface StatsOptions {
  botId?: string;
  campaignId?: string;
  creativeId?: string;
  advertiser?: string;
  timeZone?: string;
  from?: string;
  to?: string;
  by: string;
  csv?: boolean;
}

/** The same text: a date is read in the zone, which another option names. */
function checkedMoment(text: string): string {
  pastMomentOption(text);
  return text;
}

function momentIn(text: string, timeZone: string): Date {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return pastMomentOption(text);
  try {
    return startOfDay(timeZone, text);
  } catch {
    // The server refuses the zone, with the form of one.
    return pastMomentOption(text);
  }
}

export function statsCommands(program: Command, context: CommandContext): void {
  withExamples(program.command("stats").description("requests, fills, views, clicks, refusals and revenue"), [
    "stats",
    "stats --bot-id 7000000001 --from 30d --by campaign",
    "stats --from 2026-03-01 --to 2026-04-01 --by bot --csv",
    'stats --advertiser "Acme" --time-zone Europe/Berlin --from 2026-03-01',
  ])
    .option("--bot-id <id>", "of one bot only", telegramIdOption)
    .option("--campaign-id <id>", "of one campaign only")
    .option("--creative-id <id>", "of one creative only")
    .option("--advertiser <name>", "of all campaigns of one advertiser")
    .option("--time-zone <name>", "of the days, and of dates in --from and --to, such as Europe/Berlin (default: UTC)")
    .option("--from <moment>", "such as 2026-03-01 or 7d (default: a week, today included)", checkedMoment)
    .option("--to <moment>", "the end, exclusive (default: now)", checkedMoment)
    .addOption(
      new Option("--by <what>", "what each line sums up")
        .choices(["hour", "day", "bot", "campaign", "creative"])
        .default("day"),
    )
    .option("--csv", "comma-separated values, for spreadsheets")
    .action(async ({ from, to, csv, ...of }: StatsOptions) => {
      const momentOf = (text: string | undefined) => text && momentIn(text, of.timeZone ?? "UTC").toISOString();
      const query = { ...of, from: momentOf(from), to: momentOf(to) };
      const answer = await callForRow(context, operatorRequest("readStats", { query }));
      context.print(answer, () => (csv ? statsCsv(statsAnswer.parse(answer)) : showStats(statsAnswer.parse(answer))));
    });
}

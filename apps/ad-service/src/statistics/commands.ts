import { roundedAmount, roundedParts } from "@intermission/operator-api/amounts";
import { startOfDay } from "@intermission/operator-api/days-in-zone";
import { operatorRoutes } from "@intermission/operator-api/operator-routes";
import { dimensions, reportFigures } from "@intermission/operator-api/report-figures";
import { pastMomentOption } from "@intermission/server/command-options";
import { type Columns, printedCsv, tableOf, textOf } from "@intermission/server/command-tables";
import type { CommandContext } from "@intermission/server/operator-client";
import { addInput, callRoute, type WireAnswer } from "@intermission/server/route-commands";
import { type Command, Option } from "commander";
import { z } from "zod";
import { measureRows, reasonedMeasures } from "./measures.ts";

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

/** A number, or a bigint where a double would lose digits. */
const micros = z.union([z.bigint(), z.int()]).transform(BigInt);
const figures = reportFigures.extend({
  spendMicros: micros,
  revenueMicros: micros,
  ecpmMicros: micros.nullable(),
});
type Figures = z.infer<typeof figures>;

const conversionSum = z.object({
  event: z.string(),
  currency: z.string(),
  conversions: z.number(),
  valueMicros: micros,
  reversed: z.number(),
  reversedMicros: micros,
});

/** The part of the answer of `/operator/v1/stats` that is shown, with exact amounts. */
export const statsAnswer = z.object({
  currency: z.string(),
  by: z.string(),
  timeZone: z.string().default("UTC"),
  from: z.string(),
  to: z.string(),
  countedUntil: z.string().optional(),
  rows: z.array(figures.extend({ key: z.string(), name: z.string().optional() })),
  next: z.string().nullable().default(null),
  total: figures,
  comparison: z.object({ from: z.string(), to: z.string(), total: figures }).optional(),
  conversionSums: z.array(conversionSum).default([]),
  deliveries: z
    .object({ delivered: z.number(), underWay: z.number(), failed: z.number(), successRate: z.number().nullable() })
    .optional(),
} satisfies { readonly [Field in keyof WireAnswer<"readStats">]?: z.ZodType });
type StatsAnswer = z.infer<typeof statsAnswer>;
type Comparison = NonNullable<StatsAnswer["comparison"]>;
type Line = Figures & { key: string; name?: string | undefined };
/** A line of the table, with its money as text: the lines add up to the total. */
type MoneyLine = Line & { spend: string; revenue: string; ecpm: string | undefined };

export function showStats(answer: StatsAnswer): string {
  const isInTime = answer.by === "hour" || answer.by === "day";
  const { comparison } = answer;
  return [
    `${textOf(answer.from)} to ${textOf(answer.to)}, days in ${answer.timeZone}; money in ${answer.currency}`,
    "",
    tableOf(moneyLines(answer), columnsOf(answer)),
    "",
    ...(answer.next ? ["these are the first rows: --format csv has all of them", ""] : []),
    ...(comparison ? [comparedWith(answer, comparison), ""] : []),
    ...(isInTime ? courses(answer.rows) : []),
    ...reasonsOf(answer.total),
    ...(answer.total.taps > 0 ? [`taps on calls to action: ${answer.total.taps}`] : []),
    ...conversionsOf(answer),
    ...deliveriesOf(answer),
    `counted until: ${textOf(answer.countedUntil)}`,
  ].join("\n");
}

function comparedWith({ total, currency }: StatsAnswer, { from, to, total: before }: Comparison): string {
  const change = (name: string, now: number, earlier: number) =>
    `${name} ${now} from ${earlier} (${earlier === 0 ? "–" : `${now >= earlier ? "+" : ""}${percent((now - earlier) / earlier)}`})`;
  const units = (micros: bigint) => Number(micros) / 1e6;
  const parts = [
    change("requests", total.requests, before.requests),
    change("rewards", total.rewards, before.rewards),
    change("clicks", total.clicks, before.clicks),
    change(`spend in ${currency}`, units(total.spendMicros), units(before.spendMicros)),
  ];
  return `compared with ${textOf(from)} to ${textOf(to)}: ${parts.join(", ")}`;
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

function columnsOf({ by, currency }: StatsAnswer): Columns<MoneyLine> {
  // Keeps the line within 120 columns, beside the largest numbers.
  const maxNameLength = by === "bot" ? 7 : 14;
  return {
    [by.toUpperCase()]: ({ key, name }: MoneyLine) =>
      name === undefined ? key : `${key} ${name.slice(0, maxNameLength)}`,
    // An unfilled request belongs to no campaign.
    ...(!by.includes("campaign") &&
      !by.includes("creative") && {
        REQUESTS: "requests",
        FILLED: ({ fillRate }: MoneyLine) => percent(fillRate),
      }),
    STARTS: "starts",
    WATCHED: ({ completionRate }) => percent(completionRate),
    REWARDS: "rewards",
    CTR: ({ tapRate }) => percent(tapRate),
    CLICKS: "clicks",
    REFUSED: ({ clicksRefused }) => sumOf(clicksRefused),
    [`SPEND ${currency}`]: "spend",
    [`REVENUE ${currency}`]: "revenue",
    ECPM: "ecpm",
  };
}

function courses(rows: readonly Line[]): string[] {
  if (rows.length < 2) return [];
  const course = (name: string, of: (line: Line) => number) => `${name.padEnd(9)}${sparkline(rows.map(of))}`;
  const lines = [course("requests", (row) => row.requests), course("rewards", (row) => row.rewards)];
  return [...lines, course("clicks", (row) => row.clicks), course("revenue", (row) => Number(row.revenueMicros)), ""];
}

/** A line for each measure that has reasons, in the words of the statistics: `no fills: no-campaign 3`. */
function reasonsOf(total: Figures): string[] {
  return reasonedMeasures
    .map((measure) => ({ name: measure.replaceAll("-", " "), counts: total[measureRows[measure].reasons] }))
    .filter(({ counts }) => sumOf(counts) > 0)
    .map(({ name, counts }) => {
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

/** Prints a report as a table, or all of it as its CSV file. */
export async function printReport(
  context: CommandContext,
  query: Readonly<Record<string, string | undefined>>,
  { isCsv, heading }: { isCsv: boolean; heading?: string | undefined },
): Promise<void> {
  if (isCsv && !context.isJson()) {
    const file = await callRoute(context, "exportStats", { query: { ...query, heading } });
    context.print(file, () => printedCsv(file));
    return;
  }
  const answer = await callRoute(context, "readStats", { query });
  context.print(answer, () => showStats(statsAnswer.parse(answer)));
}

export function statsCommands(program: Command, context: CommandContext): void {
  const command = program.command("stats");
  const readInput = addInput<"exportStats">(command, operatorRoutes.exportStats, {
    description: "requests, fills, views, clicks, refusals and revenue",
    examples: [
      "",
      "--bot-id 7000000001 --from 30d --by campaign",
      "--from 2026-03-01 --to 2026-04-01 --by day,bot --format csv",
      '--advertiser "Acme" --time-zone Asia/Kolkata --from 2026-03-01 --compare weekdays',
      "--from 30d --by country --order-by spendMicros",
    ],
    options: {
      botId: "of one bot only",
      campaignId: "of one campaign only",
      creativeId: "of one creative only",
      advertiser: { text: "of all campaigns of one advertiser", value: "name" },
      country: { value: "code" },
      platform: { value: "name" },
      language: { value: "code" },
      premium: { value: "kind" },
      timeZone: { text: "of the days, and of dates in --from and --to, such as Europe/Berlin", value: "name" },
      from: { text: "such as 2026-03-01 or 7d (default: a week, today included)", parse: checkedMoment },
      to: { text: "the end, exclusive (default: now)", parse: checkedMoment },
      by: { text: `what each line sums up, up to four of: ${dimensions.join(", ")}`, value: "what", usual: "day" },
      compare: { text: "with the range before, or the latest of the same weekdays", value: "range" },
      orderBy: { text: "what the lines are ordered by", value: "figure" },
      order: { text: "with --order-by", value: "direction" },
      heading: { text: "of csv: whether lines before the columns name the period and the zone" },
    },
  });
  const format = new Option("--format <format>", "a table, or comma-separated values with all lines, for spreadsheets");
  command
    .addOption(format.choices(["table", "csv"]).default("table"))
    .option("--csv", "the same as --format csv")
    .action(async () => {
      const { heading, ...query } = (await readInput(context)).query;
      const momentOf = (text: string | undefined) => text && momentIn(text, query.timeZone ?? "UTC").toISOString();
      const { csv, format } = command.opts<{ csv?: boolean; format: string }>();
      const report = { ...query, from: momentOf(query.from), to: momentOf(query.to) };
      await printReport(context, report, { isCsv: csv === true || format === "csv", heading });
    });
}

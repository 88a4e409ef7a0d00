import { AdsError } from "../ads-error.ts";
import type { ReferenceFigures, ReferenceStats, Stats, StatsFigures } from "../client-answers.ts";
import type { Ads, ReferenceStatsQuery, StatsQuery } from "../create-ads.ts";

interface Host {
  write(line: string): void;
  writeError(line: string): void;
  readonly signal: AbortSignal;
}

/** What a table of the bot's numbers shows. */
export type StatsTable = "stats" | "earnings";

const columns = {
  stats: [
    ["requests", ({ requests }) => String(requests)],
    ["filled", ({ fill_rate }) => percent(fill_rate)],
    ["starts", ({ starts }) => String(starts)],
    ["completed", ({ completion_rate }) => percent(completion_rate)],
    ["rewards", ({ rewards }) => String(rewards)],
    ["clicks", ({ clicks }) => String(clicks)],
  ],
  earnings: [
    ["rewards", ({ rewards }) => String(rewards)],
    ["clicks", ({ clicks }) => String(clicks)],
    ["revenue", ({ revenue_micros }, currency) => money(revenue_micros, currency)],
    ["eCPM", ({ ecpm_micros }, currency) => (ecpm_micros === null ? "-" : money(ecpm_micros, currency))],
  ],
} satisfies Record<StatsTable, readonly Column<StatsFigures>[]>;

/** Both tables of references: there are no requests and no rates of them. */
const referenceColumns: readonly Column<ReferenceFigures>[] = [
  ["rewards", ({ rewards }) => String(rewards)],
  ["clicks", ({ clicks }) => String(clicks)],
  ["users", ({ users }) => String(users)],
  ["refunds", ({ refunds }) => String(refunds)],
  ["revenue", ({ revenue_micros }, currency) => money(revenue_micros, currency)],
];

type Column<Figures> = readonly [name: string, read: (figures: Figures, currency: string) => string];

/** Shows the bot's numbers, or what they earned, as a table with a line of totals. */
export function showStats(
  ads: Pick<Ads, "stats">,
  { table, query }: { table: StatsTable; query: StatsQuery },
  host: Host,
): Promise<number> {
  return show(host, async () => {
    const stats = await ads.stats(query, { signal: host.signal });
    const { delivered, under_way, failed, since } = stats.deliveries;
    const kept = since === undefined ? "" : ` (of events since ${since}: earlier webhooks are no longer kept)`;
    const webhooks = `webhooks: ${delivered} delivered, ${under_way} under way, ${failed} failed${kept}`;
    return [...tableOf<StatsFigures>(stats, columns[table]), webhooks];
  });
}

/** Shows what codes earned whose reference begins with a prefix. */
export function showReferenceStats(
  ads: Pick<Ads, "referenceStats">,
  { prefix, query }: { prefix: string; query: ReferenceStatsQuery },
  host: Host,
): Promise<number> {
  return show(host, async () => {
    const stats = await ads.referenceStats(prefix, query, { signal: host.signal });
    const { rows_left_out: leftOut = 0 } = stats;
    const more = leftOut > 0 ? [`${leftOut} more; a longer --reference-prefix shows them`] : [];
    return [...tableOf<ReferenceFigures>(stats, referenceColumns), ...more];
  });
}

async function show(host: Host, read: () => Promise<readonly string[]>): Promise<number> {
  try {
    for (const line of await read()) host.write(line);
    return 0;
  } catch (error) {
    if (host.signal.aborted) return 0;
    if (!(error instanceof AdsError)) throw error;
    host.writeError(`${error.message} (${error.code}). intermission-publisher doctor checks what is wrong.`);
    return 1;
  }
}

interface Split<Figures> extends Pick<Stats | ReferenceStats, "currency" | "by"> {
  readonly rows: readonly (Figures & { key: string })[];
  readonly total: Figures;
}

function tableOf<Figures>(stats: Split<Figures>, shown: readonly Column<Figures>[]): string[] {
  const { rows, total, currency, by } = stats;
  const lineOf = (key: string, figures: Figures) => [key, ...shown.map(([, read]) => read(figures, currency))];
  const lines = [
    [by, ...shown.map(([name]) => name)],
    ...rows.map((row) => lineOf(row.key === "" ? "(none)" : row.key, row)),
    lineOf("total", total),
  ];
  const widths = shown.map((_, at) => Math.max(...lines.map((line) => line[at + 1]?.length ?? 0)));
  const first = Math.max(...lines.map(([key = ""]) => key.length));
  return lines.map(([key = "", ...cells]) =>
    [key.padEnd(first), ...cells.map((cell, at) => cell.padStart(widths[at] ?? 0))].join("  "),
  );
}

function percent(share: number | null): string {
  return share === null ? "-" : `${(share * 100).toFixed(1)} %`;
}

function money(micros: number, currency: string): string {
  return `${(micros / 1_000_000).toFixed(2)} ${currency}`;
}

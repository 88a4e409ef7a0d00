import { AdsError } from "../ads-error.ts";
import type { Stats, StatsFigures } from "../client-answers.ts";
import type { Ads, StatsQuery } from "../create-ads.ts";

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
} satisfies Record<StatsTable, readonly [string, (figures: StatsFigures, currency: string) => string][]>;

/** Shows the bot's numbers, or what they earned, as a table with a line of totals. */
export async function showStats(
  ads: Pick<Ads, "stats">,
  { table, query }: { table: StatsTable; query: StatsQuery },
  host: Host,
): Promise<number> {
  try {
    const stats = await ads.stats(query, { signal: host.signal });
    for (const line of tableOf(stats, table)) host.write(line);
    const { delivered, under_way, failed } = stats.deliveries;
    host.write(`webhooks: ${delivered} delivered, ${under_way} under way, ${failed} failed`);
    return 0;
  } catch (error) {
    if (host.signal.aborted) return 0;
    if (!(error instanceof AdsError)) throw error;
    host.writeError(`${error.message} (${error.code}). intermission-publisher doctor checks what is wrong.`);
    return 1;
  }
}

function tableOf({ rows, total, currency, by }: Stats, table: StatsTable): string[] {
  const shown: readonly [string, (figures: StatsFigures, currency: string) => string][] = columns[table];
  const lineOf = (key: string, figures: StatsFigures) => [key, ...shown.map(([, read]) => read(figures, currency))];
  const lines = [
    [by, ...shown.map(([name]) => name)],
    ...rows.map(({ key, ...figures }) => lineOf(key === "" ? "(none)" : key, figures)),
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

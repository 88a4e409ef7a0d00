import { medianOf, quantileMilliseconds } from "../load.ts";
import type { Measured } from "../meter.ts";
import { perSecond } from "../table.ts";

/** One path on one store, in each round. */
interface GrowthLine {
  readonly path: string;
  readonly name: string;
  readonly rounds: readonly Measured[];
  /** The first store's figures of the same rounds. */
  readonly base: readonly Measured[] | undefined;
}

const p99 = (round: Measured) => quantileMilliseconds(round, 0.99);
const microseconds = (milliseconds: number, { answered }: Measured) => (milliseconds * 1000) / answered;

const widths = [16, 16, 7, 8, 7, 8, 7, 8, 7, 7];

export function growthHead(): string {
  const titles = ["path", "store", "per s", "of first", "p99 ms", "of first", "p50 ms", "Node µs", "PG µs", "WAL B"];
  return `${row(titles)}\n|${widths.map((width, at) => `${"-".repeat(width + 1)}${at < 2 ? "-" : ":"}`).join("|")}|`;
}

/** Ratios are medians of the ratios in each round: a slowdown of the machine in one round affects both. */
export function growthLine({ path, name, rounds, base }: GrowthLine): string {
  const median = (figure: (round: Measured) => number, digits = 0) => shown(medianOf(rounds.map(figure)), digits);
  const ratio = (figure: (round: Measured) => number) => {
    if (base === undefined) return "";
    return shown(medianOf(rounds.map((round, at) => figure(round) / (base[at] ? figure(base[at]) : Number.NaN))), 2);
  };
  return row([
    path,
    name,
    median(perSecond),
    ratio(perSecond),
    median(p99, 1),
    ratio(p99),
    median((round) => quantileMilliseconds(round, 0.5), 1),
    median((round) => microseconds(round.nodeMilliseconds, round)),
    median((round) => microseconds(round.postgresMilliseconds, round)),
    median(({ walBytes, answered }) => walBytes / answered),
  ]);
}

/** A webhook has no latency of its own here: how long it waits is how many were before it. */
function shown(figure: number, digits: number): string {
  return Number.isNaN(figure) ? "" : figure.toFixed(digits);
}

function row(cells: readonly string[]): string {
  const padded = cells.map((cell, at) => (at < 2 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)));
  return `| ${padded.join(" | ")} |`;
}

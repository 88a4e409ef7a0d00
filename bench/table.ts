import { medianOf, quantileMilliseconds } from "./load.ts";
import type { Measured } from "./meter.ts";

/** One line of the table: a path on one server, in each round. */
interface Line {
  readonly path: string;
  readonly server: string;
  readonly rounds: readonly Measured[];
  /** The figures to compare with, from the same rounds. */
  readonly floor?: readonly Measured[] | undefined;
  readonly oneRow?: readonly Measured[] | undefined;
  readonly baseline?: readonly Measured[] | undefined;
  /** The target: the ratio to the one-row server, or for webhooks to the floor. */
  readonly target?: number | undefined;
}

const columns: [title: string, width: number][] = [
  ["path", 26],
  ["server", 16],
  ["per s", 7],
  ["p50 ms", 7],
  ["p99 ms", 7],
  ["of floor", 8],
  ["of one row", 10],
  ["target", 6],
  ["of base", 7],
  ["Node µs", 8],
  ["PG µs", 7],
  ["WAL B", 7],
];

export function tableHead(): string {
  const titles = columns.map(([title, width], at) => (at < 2 ? title.padEnd(width) : title.padStart(width)));
  const rules = columns.map(([, width], at) => (at < 2 ? "-".repeat(width + 2) : `${"-".repeat(width + 1)}:`));
  return `| ${titles.join(" | ")} |\n|${rules.join("|")}|`;
}

export function tableLine(line: Line): string {
  const { rounds } = line;
  const median = (figure: (round: Measured) => number, digits: number) => shown(medianOf(rounds.map(figure)), digits);
  const cells = [
    line.path,
    line.server,
    median(perSecond, 0),
    median((round) => quantileMilliseconds(round, 0.5), 1),
    median((round) => quantileMilliseconds(round, 0.99), 1),
    shown(ratioOf(rounds, line.floor), 2),
    shown(ratioOf(rounds, line.oneRow), 2),
    line.target === undefined ? "" : `≥ ${line.target}`,
    shown(ratioOf(rounds, line.baseline), 2),
    median((round) => (round.nodeMilliseconds * 1000) / round.answered, 0),
    median((round) => (round.postgresMilliseconds * 1000) / round.answered, 0),
    median((round) => round.walBytes / round.answered, 0),
  ];
  const padded = cells.map((cell, at) => {
    const width = columns[at]?.[1] ?? 0;
    return at < 2 ? cell.padEnd(width) : cell.padStart(width);
  });
  return `| ${padded.join(" | ")} |`;
}

export function perSecond({ answered, seconds }: Measured): number {
  return answered / seconds;
}

/** The median of the ratios in each round: a slowdown of the machine in one round affects both. */
function ratioOf(rounds: readonly Measured[], others: readonly Measured[] | undefined): number {
  if (others === undefined) return Number.NaN;
  return medianOf(rounds.map((round, at) => perSecond(round) / (others[at] ? perSecond(others[at]) : Number.NaN)));
}

function shown(value: number, digits: number): string {
  return Number.isFinite(value) ? value.toFixed(digits) : "";
}

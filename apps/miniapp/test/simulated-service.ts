import type { ProgressReport, ReportRequest, ReportResponse } from "@intermission/ad-core/player-api";

type Range = [from: number, to: number];

/** The ad service's tolerances: for merging ranges, and for progress ahead of its clock. */
const JITTER_MS = 250;
const SLACK_MS = 1000;

/** A simplified ad service for one view's reports. `reported` has all ranges that arrived, including those that are too early. */
export class SimulatedService {
  readonly #durationMs: number;
  /** Of an interstitial, which is watched then. */
  chargedAfterMs: number | undefined;
  readonly #openedAt = performance.now();
  readonly #settled = new Set<number>();
  #isStarted = false;
  /** By a tap. Time after it counts for nothing. */
  #closedAt = Number.POSITIVE_INFINITY;
  #covered: Range[] = [];
  #state: ReportResponse["state"] = "opened";
  reported: Range[] = [];
  /** Sequence numbers of what the time until the closing tap never allows. */
  readonly refused: number[] = [];

  constructor(durationMs: number) {
    this.#durationMs = durationMs;
  }

  get state(): ReportResponse["state"] {
    return this.#state;
  }

  receive({ started, reports, closed }: ReportRequest): ReportResponse {
    const now = performance.now();
    this.#isStarted ||= started === true;
    if (closed === "tap") this.#closedAt = Math.min(this.#closedAt, now);
    const early = reports.filter((report) => !this.#settle(report, now));
    if (this.#state === "opened" && this.#isStarted) this.#state = "playing";
    if (this.#isWatched(this.#covered) && this.#state === "playing") this.#state = "watched";
    if (closed && this.#state === "watched") this.#state = "rewarded";
    const tooEarly = early.map(({ sequence }) => sequence);
    return {
      state: this.#state,
      accepted_ms: total(this.#covered),
      acknowledged: reports.map(({ sequence }) => sequence).filter((sequence) => this.#settled.has(sequence)),
      refused: this.refused.map((sequence) => ({ sequence, reason: "after-close" as const })),
      ...(early.length > 0 && { too_early: { sequences: tooEarly, retry_after_ms: this.#waitFor(early, now) } }),
      server_time: "2030-01-01T00:00:00Z",
    };
  }

  /** Duration of the played ranges that were never reported. */
  unreportedMs(played: readonly Range[]): number {
    const both = played.reduce<Range[]>((ranges, range) => join(ranges, range), this.reported);
    return total(both) - total(this.reported);
  }

  #settle(report: ProgressReport, now: number): boolean {
    const { sequence, visible } = report;
    if (!visible || this.#settled.has(sequence) || !this.#isStarted) return true;
    this.reported = join(this.reported, rangeOf(report));
    const covered = join(this.#covered, rangeOf(report));
    const isAllowedAt = (moment: number) => this.#neededMs(covered) <= moment - this.#openedAt;
    const isAllowed = isAllowedAt(Math.min(now, this.#closedAt));
    if (!isAllowed && isAllowedAt(this.#closedAt)) return false;
    if (isAllowed) this.#covered = covered;
    else this.refused.push(sequence);
    this.#settled.add(sequence);
    return true;
  }

  #waitFor(early: readonly ProgressReport[], now: number): number {
    const claimed = early.reduce((ranges, report) => join(ranges, rangeOf(report)), this.#covered);
    return Math.max(1, Math.ceil(this.#neededMs(claimed) - (now - this.#openedAt)));
  }

  #neededMs(covered: readonly Range[]): number {
    return this.#isWatched(covered) ? this.#minMs : total(covered) - SLACK_MS;
  }

  #isWatched(covered: readonly Range[]): boolean {
    return covered.some(([from, to]) => from <= JITTER_MS && to >= this.#minMs);
  }

  get #minMs(): number {
    return this.chargedAfterMs ?? this.#durationMs - Math.min(1000, this.#durationMs / 10);
  }
}

function rangeOf({ from_ms: from, to_ms: to }: ProgressReport): Range {
  return [from, to];
}

function join(ranges: readonly Range[], [from, to]: Range): Range[] {
  const touches = (range: Range) => range[0] <= to + JITTER_MS && range[1] >= from - JITTER_MS;
  const touched = ranges.filter(touches);
  const joined: Range = [
    Math.min(from, ...touched.map((range) => range[0])),
    Math.max(to, ...touched.map((range) => range[1])),
  ];
  return [...ranges.filter((range) => !touches(range)), joined];
}

function total(ranges: readonly Range[]): number {
  return ranges.reduce((sum, [from, to]) => sum + to - from, 0);
}

import type { DatabaseLogger } from "./database-store.ts";
import type { Database } from "./open-database.ts";
import { statement } from "./open-database.ts";

/** The database's clock, as this process follows it. */
interface DatabaseClock {
  /**
   * The database's time. Every moment that decides is read here: this machine's own clock may be wrong by days, and all nodes
   * share the database's.
   */
  readonly now: () => Date;
  /** By how much this machine's clock was ahead of the database's when they were last compared; negative if it was behind. */
  readonly offsetMs: () => number;
  /** Since when the database's clock is not believed, after a jump; undefined if it is. */
  readonly doubtedJump: () => { readonly byMs: number } | undefined;
  /** How often the database's clock has jumped: what it wrote before may be in its future now. */
  readonly jumps: () => number;
  /**
   * Whether the database's clock has gone on without a jump for an hour, and agreed with this machine's. What cannot be undone,
   * such as removing old rows, waits for it: a machine may start with a clock that is years ahead, until NTP sets it right.
   */
  readonly isSettled: () => boolean;
  stop(): void;
}

const EVERY_MS = 2000;
/** A comparison that takes longer says too little, except the first. */
const MAX_ROUND_TRIP_MS = 500;
/**
 * The time since the last comparison is measured by this process, whose timer may jump too, as when a virtual machine resumes.
 * It counts no further than this: without the database, nothing is decided anyway.
 */
const MAX_UNCOMPARED_MS = 30_000;

/** A step of the database's clock that is larger is a jump: somebody set it, or its machine was stopped. */
const MAX_STEP_MS = 60_000;
/** Time enough to notice a wrong clock; nodes that start meanwhile take the database's time. */
const BELIEVED_AFTER_MS = 10 * 60_000;
const SETTLED_AFTER_MS = 60 * 60_000;
/** Clocks that differ by more are not of one opinion. */
const MAX_DIFFERENCE_MS = 60_000;

const readTime = statement<{ ms: number }>(
  "database-clock.read",
  "select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms",
);

interface Comparison {
  databaseMs: number;
  measuredAt: number;
  offsetMs: number;
  roundTripMs: number;
}

/** What a time of the database is, compared with what was expected by this process's own timer. */
type ClockJudgement = "steady" | "corrected" | "doubted" | "believed";

/**
 * A jump towards this machine's clock corrects the database's, and counts at once. Any other is doubted, since the machine's
 * clock and the process's timer both contradict it: time goes on as before, until the jump has lasted for ten minutes.
 */
export function judgeClock(of: {
  readonly expectedMs: number;
  readonly databaseMs: number;
  readonly machineMs: number;
  /** How long the database's time has been doubted. */
  readonly doubtedForMs: number;
}): ClockJudgement {
  const { expectedMs, databaseMs, machineMs, doubtedForMs } = of;
  if (Math.abs(databaseMs - expectedMs) <= MAX_STEP_MS) return "steady";
  if (Math.abs(databaseMs - machineMs) < Math.abs(expectedMs - machineMs)) return "corrected";
  return doubtedForMs >= BELIEVED_AFTER_MS ? "believed" : "doubted";
}

/**
 * Compares the clocks once, then every two seconds until stopped. Rejects if the database does not answer the first time. A
 * jump of the database's clock is logged, and not followed at once.
 */
export async function followDatabaseClock(
  database: Pick<Database, "run">,
  { everyMs = EVERY_MS, logger }: { everyMs?: number; logger?: DatabaseLogger | undefined } = {},
): Promise<DatabaseClock> {
  let last = await compare(database);
  /** The time that is followed, when the clocks were last compared. */
  let followedMs = last.databaseMs;
  let doubtedSince: number | undefined;
  let jumps = 0;
  let steadySince = last.measuredAt;
  let isComparing = false;

  function follow(next: Comparison): void {
    const elapsedMs = next.measuredAt - last.measuredAt;
    const steppedMs = next.databaseMs - last.databaseMs - elapsedMs;
    const expectedMs = followedMs + elapsedMs;
    const doubtedForMs = doubtedSince === undefined ? 0 : next.measuredAt - doubtedSince;
    const { databaseMs } = next;
    const judgement = judgeClock({ expectedMs, databaseMs, machineMs: databaseMs + next.offsetMs, doubtedForMs });
    if (Math.abs(steppedMs) > MAX_STEP_MS) {
      jumps += 1;
      logger?.warn({ seconds: Math.round(steppedMs / 1000), judgement }, messageOfJump[judgement]);
    } else if (judgement === "believed") {
      logger?.warn({ seconds: Math.round((databaseMs - expectedMs) / 1000) }, messageOfJump.believed);
    }
    if (Math.abs(steppedMs) > MAX_STEP_MS || Math.abs(next.offsetMs) > MAX_DIFFERENCE_MS) steadySince = next.measuredAt;
    const isDoubted = judgement === "doubted";
    doubtedSince = isDoubted ? (doubtedSince ?? next.measuredAt) : undefined;
    followedMs = isDoubted ? expectedMs : databaseMs;
    last = next;
  }

  async function compareAgain(): Promise<void> {
    if (isComparing) return;
    isComparing = true;
    try {
      const next = await compare(database);
      if (next.roundTripMs <= MAX_ROUND_TRIP_MS) follow(next);
    } catch {
      // An outage: requests report it, and the next comparison repairs the rest.
    } finally {
      isComparing = false;
    }
  }
  const timer = setInterval(compareAgain, everyMs).unref();

  return {
    now: () => new Date(followedMs + Math.min(performance.now() - last.measuredAt, MAX_UNCOMPARED_MS)),
    offsetMs: () => last.offsetMs,
    doubtedJump: () => (doubtedSince === undefined ? undefined : { byMs: last.databaseMs - followedMs }),
    jumps: () => jumps,
    isSettled: () => last.measuredAt - steadySince >= SETTLED_AFTER_MS,
    stop: () => clearInterval(timer),
  };
}

const messageOfJump = {
  steady: "the database's clock jumped back to the time that is used",
  corrected: "the database's clock jumped towards this machine's: its time is used",
  doubted:
    "the database's clock jumped: the time before goes on for ten minutes; set the clock of its machine right, with NTP",
  believed: "the jump of the database's clock has lasted: its time is used from now on",
} satisfies Record<ClockJudgement, string>;

async function compare(database: Pick<Database, "run">): Promise<Comparison> {
  const before = performance.now();
  const [row] = await database.run(readTime, []);
  const measuredAt = performance.now();
  const roundTripMs = measuredAt - before;
  if (!row) throw new Error("the database returned no time");
  const databaseMs = row.ms + roundTripMs / 2;
  return { databaseMs, measuredAt, roundTripMs, offsetMs: Date.now() - databaseMs };
}

/** What `/readyz` says about a clock that is wrong by more than a minute. The node works. */
export function clockWarning({
  offsetMs,
  doubtedJump,
}: Pick<DatabaseClock, "offsetMs" | "doubtedJump">): string | undefined {
  const jump = doubtedJump();
  if (jump !== undefined) {
    const direction = jump.byMs > 0 ? "ahead" : "back";
    return `the database's clock jumped ${Math.round(Math.abs(jump.byMs) / 1000)} s ${direction}, which is believed after ten minutes: set the clock of its machine right, with NTP`;
  }
  const differenceMs = offsetMs();
  if (Math.abs(differenceMs) <= MAX_DIFFERENCE_MS) return undefined;
  const seconds = Math.round(Math.abs(differenceMs) / 1000);
  const direction = differenceMs > 0 ? "ahead of" : "behind";
  return `this machine's clock is ${seconds} s ${direction} the database's, whose time is used: set the wrong one right, with NTP`;
}

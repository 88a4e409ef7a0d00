import type { Database } from "./open-database.ts";
import { statement } from "./open-database.ts";

/** The database's clock, as this process follows it. */
export interface DatabaseClock {
  /**
   * The database's time. Every moment that decides is read here: this machine's own clock may be wrong by days, and all nodes
   * share the database's.
   */
  readonly now: () => Date;
  /** By how much this machine's clock was ahead of the database's when they were last compared; negative if it was behind. */
  readonly offsetMs: () => number;
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

/** Compares the clocks once, then every two seconds until stopped. Rejects if the database does not answer the first time. */
export async function followDatabaseClock(
  database: Pick<Database, "run">,
  { everyMs = EVERY_MS }: { everyMs?: number } = {},
): Promise<DatabaseClock> {
  let last = await compare(database);
  let isComparing = false;

  async function compareAgain(): Promise<void> {
    if (isComparing) return;
    isComparing = true;
    try {
      const next = await compare(database);
      if (next.roundTripMs <= MAX_ROUND_TRIP_MS) last = next;
    } catch {
      // An outage: requests report it, and the next comparison repairs the rest.
    } finally {
      isComparing = false;
    }
  }
  const timer = setInterval(compareAgain, everyMs).unref();

  return {
    now: () => new Date(last.databaseMs + Math.min(performance.now() - last.measuredAt, MAX_UNCOMPARED_MS)),
    offsetMs: () => last.offsetMs,
    stop: () => clearInterval(timer),
  };
}

async function compare(database: Pick<Database, "run">): Promise<Comparison> {
  const before = performance.now();
  const [row] = await database.run(readTime, []);
  const measuredAt = performance.now();
  const roundTripMs = measuredAt - before;
  if (!row) throw new Error("the database returned no time");
  const databaseMs = row.ms + roundTripMs / 2;
  return { databaseMs, measuredAt, roundTripMs, offsetMs: Date.now() - databaseMs };
}

const MAX_DIFFERENCE_MS = 60_000;

/** What `/readyz` says about a clock that is wrong by more than a minute. The node works: it uses the database's. */
export function clockWarning({ offsetMs }: Pick<DatabaseClock, "offsetMs">): string | undefined {
  const differenceMs = offsetMs();
  if (Math.abs(differenceMs) <= MAX_DIFFERENCE_MS) return undefined;
  const seconds = Math.round(Math.abs(differenceMs) / 1000);
  const direction = differenceMs > 0 ? "ahead of" : "behind";
  return `this machine's clock is ${seconds} s ${direction} the database's, whose time is used: set it right, with NTP`;
}

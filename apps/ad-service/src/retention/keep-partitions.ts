import type { KeptRows } from "@intermission/operator-api/status";
import { dropPartitions } from "@intermission/postgres/drop-partitions";
import type { OpenedDatabase } from "@intermission/postgres/open-database";
import { coveredUntil, makePartitions, readPartitions } from "@intermission/postgres/partitions";
import { type BackgroundLoop, startLoop } from "@intermission/server/background-loop";
import { NotReady } from "@intermission/server/health";
import type { FastifyBaseLogger } from "fastify";
import {
  isExpired,
  type KeptTable,
  MIN_KEPT_DAYS,
  partitionedTables,
  type Retention,
  tablesOfKind,
} from "./kept-rows.ts";

type Store = Pick<OpenedDatabase, "run" | "withoutTimeout">;

const schema = "ad_service";
const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
/** A node has this long to be repaired before a row has no partition. */
const LEAD_WEEKS = 4;
/** For rows that begin in one week and are written in the next, and for a clock that is set back by a day. */
const PAST_DAYS = MIN_KEPT_DAYS;

/** A period without a gap for which each table has partitions, in milliseconds of the epoch. */
interface Covered {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Makes the partitions that are missing from the week before `now` until four weeks after it. Call it before rows are written. */
export async function makeUpcomingPartitions(store: Store, now: Date): Promise<{ made: readonly string[] }> {
  const [fromMs, toMs] = [now.getTime() - PAST_DAYS * DAY_MS, now.getTime() + LEAD_WEEKS * WEEK_MS];
  return store.withoutTimeout(async (client) => ({
    made: await makePartitions(client, { schema, tables: partitionedTables, fromMs, toMs }),
  }));
}

async function readCovered(store: Store, now: Date): Promise<Covered> {
  const fromMs = now.getTime() - PAST_DAYS * DAY_MS;
  return { fromMs, untilMs: coveredUntil(await readPartitions(store, schema), partitionedTables, fromMs) };
}

/** A past period whose rows are written now. */
export interface PastPeriod {
  readonly from: Date;
  readonly to: Date;
  /** Only these; without it, all kinds. */
  readonly rows?: KeptRows;
}

/** Makes the partitions that are missing of a past period. They are dropped again once their rows need not be kept. */
export async function makePastPartitions(store: Store, { from, to, rows }: PastPeriod): Promise<void> {
  const [fromMs, toMs] = [from.getTime(), to.getTime()];
  const tables = rows === undefined ? partitionedTables : tablesOfKind(rows);
  await store.withoutTimeout((client) => makePartitions(client, { schema, tables, fromMs, toMs }));
}

/** The database's clock is compared as often: after a jump, rows wait for their partitions no longer than this. */
const EVERY_MS = 2000;
/** How often the partitions are checked: an operator may remove one, and a promoted standby may lack the last ones. */
const LOOK_EVERY_MS = 10_000;
const DROP_EVERY_MS = 3_600_000;
const DROP_AGAIN_MS = 300_000;

interface KeptPartitions extends BackgroundLoop {
  /** Throws `NotReady` while rows of this moment have no partition, and none could be made. */
  require(): void;
}

/**
 * Keeps partitions four weeks ahead of the clock, and drops those whose rows are no longer kept, until it is stopped. Any
 * number of nodes may run it. Nothing is dropped before the clock is settled.
 */
export function startKeepingPartitions(deps: {
  store: Store;
  retention: Retention;
  log: Pick<FastifyBaseLogger, "info" | "warn" | "error">;
  now: () => Date;
  isClockSettled: () => boolean;
  everyMs?: number;
  lookEveryMs?: number;
}): KeptPartitions {
  const { store, retention, log, now, isClockSettled, everyMs = EVERY_MS, lookEveryMs = LOOK_EVERY_MS } = deps;
  let covered: Covered | undefined;
  let lookAt = 0;
  let dropAt = 0;

  async function make(): Promise<void> {
    const moment = now().getTime();
    const isCovered = () =>
      covered !== undefined && covered.fromMs <= moment && moment + LEAD_WEEKS * WEEK_MS <= covered.untilMs;
    if (performance.now() < lookAt && isCovered()) return;
    covered = await readCovered(store, now());
    if (!isCovered()) {
      const { made } = await makeUpcomingPartitions(store, now());
      covered = await readCovered(store, now());
      if (made.length > 0) log.info({ made }, "partitions of the coming weeks were made");
    }
    lookAt = performance.now() + lookEveryMs;
  }

  async function drop(stopping: AbortSignal): Promise<void> {
    if (performance.now() < dropAt || !isClockSettled()) return;
    const { dropped, needed, busy, detached } = await dropExpired(store, { retention, now: now(), stopping });
    dropAt = performance.now() + (busy.length > 0 ? DROP_AGAIN_MS : DROP_EVERY_MS);
    if (dropped.length > 0) log.info({ dropped }, "rows that are no longer kept were dropped");
    if (busy.length > 0)
      log.warn({ busy }, "a long transaction uses rows that are no longer kept; trying again in five minutes");
    if (detached.length > 0)
      log.warn({ detached }, "weeks that are kept are detached from their tables: attach them again, or drop them");
    if (needed.length > 0)
      log.warn(
        { needed },
        "rows that are no longer kept stay until they are in the statistics, decided about, or sent",
      );
  }

  const { health, stop } = startLoop({
    everyMs,
    async round(stopping) {
      await make();
      await drop(stopping);
      return undefined;
    },
    onFault: (error) => log.error({ err: error }, "partitions could not be made or dropped; trying again"),
  });
  return {
    health,
    stop,
    require() {
      if (covered === undefined || now().getTime() < covered.untilMs) return;
      throw new NotReady(
        "rows of this week have no partition: the log says why it could not be made, by `partitions could not be made or dropped`",
      );
    },
  };
}

/** Drops the weeks whose rows are no longer kept. */
export function dropExpired(
  store: Store,
  { retention, now, stopping, waitMs }: { retention: Retention; now: Date; stopping?: AbortSignal; waitMs?: number },
): ReturnType<typeof dropPartitions> {
  return store.withoutTimeout((client) =>
    dropPartitions(client, {
      schema,
      isExpired: (partition) => stopping?.aborted !== true && isExpired(partition, retention, now),
      neededWhile: byTable(({ neededWhile }) => neededWhile),
      after: byTable(({ after }) => after),
      ...(waitMs !== undefined && { waitMs }),
    }),
  );
}

function byTable<Value>(of: (table: KeptTable) => Value | undefined): Record<string, Value> {
  return Object.fromEntries(
    partitionedTables.flatMap((table) => {
      const value = of(table);
      return value === undefined ? [] : [[table.name, value]];
    }),
  );
}

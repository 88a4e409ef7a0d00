import type { KeptRows } from "@intermission/operator-api/status";
import type { Database } from "@intermission/postgres/open-database";
import { coveredUntil, readPartitions } from "@intermission/postgres/partitions";
import { rarelyRead } from "@intermission/server/metrics";
import { Gauge, type Registry } from "prom-client";
import { keptKinds, partitionedTables, type Retention, tableNames } from "./kept-rows.ts";

const schema = "ad_service";

interface DescribedRetention {
  /** Rows of later moments have no partition yet. */
  partitionsUntil: Date;
  kept: { rows: KeptRows; days: number; since: Date }[];
}

/** For each kind of rows: how long they are kept, the oldest ones, and until when there are partitions for new ones. */
export async function describeRetention(
  database: Pick<Database, "run">,
  { retention, now }: { retention: Retention; now: Date },
): Promise<DescribedRetention> {
  const partitions = await readPartitions(database, schema);
  return {
    partitionsUntil: dateOf(coveredUntil(partitions, partitionedTables, now.getTime())),
    kept: keptKinds.map((rows) => {
      const names = tableNames(rows);
      const starts = partitions.flatMap(({ table, fromMs }) => (names.includes(table) ? [fromMs] : []));
      return { rows, days: retention[rows], since: dateOf(Math.min(now.getTime(), ...starts)) };
    }),
  };
}

const MAX_DATE_MS = Date.UTC(9999, 11, 31);

/** A partition may have no bound. */
function dateOf(ms: number): Date {
  return new Date(Math.min(Math.max(ms, 0), MAX_DATE_MS));
}

/** Webhooks of events before this moment are no longer kept. */
export async function webhooksKeptSince(database: Pick<Database, "run">): Promise<Date> {
  const weeks = (await readPartitions(database, schema, "deliveries")).filter(({ isDetaching }) => !isDetaching);
  const now = Date.now();
  const first = weeks.find(({ toMs }) => toMs > now)?.fromMs ?? now;
  // Only weeks without a gap: an older one holds clicks that were released late (`releaseClick`).
  const since = weeks.reduceRight((start, { fromMs, toMs }) => (toMs === start ? fromMs : start), first);
  return new Date(Math.max(0, since));
}

/** The one figure to watch: without partitions for what comes, requests would fail. */
export function partitionMetrics(
  registry: Registry,
  deps: { database: Pick<Database, "run">; now: () => Date; log: { warn(facts: object, message: string): void } },
): void {
  const { database, now, log } = deps;
  const read = rarelyRead(() => readPartitions(database, schema));
  new Gauge({
    name: "intermission_partitions_ahead_seconds",
    registers: [registry],
    help: "For how long from now on new rows have partitions: four to five weeks.",
    async collect() {
      const moment = now().getTime();
      const until = await read().then(
        (partitions) => coveredUntil(partitions, partitionedTables, moment),
        (error: unknown) => {
          log.warn({ err: error }, "the partitions could not be read");
          // A failed query must not fail the rest of the scrape, and 0 would be an alert.
          return Number.NaN;
        },
      );
      this.set((until - moment) / 1000);
    },
  });
}

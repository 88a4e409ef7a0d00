import type { Runner } from "@intermission/postgres/open-database";
import { readPartitions } from "@intermission/postgres/partitions";

/** Since when there are webhooks: those of earlier events are no longer kept. */
export async function webhooksKeptSince(database: Pick<Runner, "run">): Promise<Date> {
  const weeks = (await readPartitions(database, "ad_service")).filter(
    ({ table, isDetaching }) => table === "deliveries" && !isDetaching,
  );
  const now = Date.now();
  const first = weeks.find(({ toMs }) => toMs > now)?.fromMs ?? now;
  // Weeks without a gap: one of before is of clicks that were released late (`releaseClick`).
  const since = weeks.reduceRight((start, { fromMs, toMs }) => (toMs === start ? fromMs : start), first);
  return new Date(Math.max(0, since));
}

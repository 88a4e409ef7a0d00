import type { AdDatabase } from "../ad-database.ts";
import { newAlarm } from "./alarm.ts";
import { MOST_PRUNED_AT_ONCE, pruneDeliveries } from "./prune-deliveries.ts";
import { MOST_AT_ONCE, sweepDeliveries } from "./sweep-deliveries.ts";

const PRUNE_EVERY_MS = 60_000;

/** Sweeps every `sweepMs` and prunes each minute, in small batches, until it is stopped. */
export function startDeliveryUpkeep(
  database: AdDatabase,
  options: {
    sweepMs: number;
    log: { warn(facts: object, message: string): void; error(facts: object, message: string): void };
    /** Called when deliveries are waiting that could not be sent before. */
    onReleased: () => void;
  },
): { stop(): Promise<void> } {
  const { sweepMs, log, onReleased } = options;
  const alarm = newAlarm();
  let isStopping = false;
  let pruneAt = 0;

  /** Returns whether there is more to do immediately. */
  async function sweep(): Promise<boolean> {
    const { returned, unknown, unheld, held } = await sweepDeliveries(database);
    if (returned + unknown > 0) log.warn({ returned, unknown }, "deliveries of a crashed node were taken back");
    if (returned + unheld > 0) onReleased();
    return Math.max(returned + unknown, unheld, held) >= MOST_AT_ONCE;
  }

  async function prune(): Promise<boolean> {
    if (performance.now() < pruneAt) return false;
    const { pruned, givenUp } = await pruneDeliveries(database);
    if (givenUp > 0) log.warn({ givenUp }, "events that were held for 30 days are given up");
    const hasMore = Math.max(pruned, givenUp) >= MOST_PRUNED_AT_ONCE;
    if (!hasMore) pruneAt = performance.now() + PRUNE_EVERY_MS;
    return hasMore;
  }

  async function run(): Promise<void> {
    while (!isStopping) {
      try {
        const hasMore = [await sweep(), await prune()].includes(true);
        await alarm.wait(hasMore ? 0 : sweepMs);
      } catch (error) {
        log.error({ err: error }, "the upkeep of deliveries failed; trying again");
        await alarm.wait(Math.max(sweepMs, 1000));
      }
    }
  }

  const running = run();
  return {
    async stop() {
      isStopping = true;
      alarm.ring();
      await running;
    },
  };
}

import type { DatabaseLogger } from "./database-logger.ts";

/**
 * Runs a store's upkeep at a fixed interval, never concurrently; a failed run is logged, and the next one tries again.
 *
 * @returns a function that stops it after the run under way, which sees `isStopping`.
 */
export function lookEvery(
  seconds: number,
  logger: DatabaseLogger | undefined,
  look: (isStopping: () => boolean) => Promise<void>,
): () => Promise<void> {
  let isStopping = false;
  let running: Promise<void> | undefined;
  const timer = setInterval(() => {
    running ??= look(() => isStopping)
      .catch((error) => logger?.warn({ err: error }, "the store's upkeep failed"))
      .finally(() => {
        running = undefined;
      });
  }, seconds * 1000);
  timer.unref();
  return async () => {
    isStopping = true;
    clearInterval(timer);
    await running;
  };
}

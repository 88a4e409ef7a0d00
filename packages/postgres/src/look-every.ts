import type { DatabaseLogger } from "./database-logger.ts";

/**
 * Runs a store's upkeep at a steady pace, never twice at once; one that fails is logged, and tried again.
 *
 * @returns stops it, after the look under way, which is told by `isStopping`.
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

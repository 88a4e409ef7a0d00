import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "@intermission/server/logger";
import { type Reconciled, type ReconcileOptions, reconcileEvents } from "./reconcile-events.ts";

const pauseSeconds: Record<Reconciled["outcome"], number> = {
  done: 60,
  more: 1,
  unavailable: 60,
  // A service of another vendor: it may add the endpoint later.
  "not-offered": 6 * 3600,
};

export interface ReconcileForeverOptions extends ReconcileOptions {
  logger: Pick<Logger, "info" | "warn" | "error">;
  onRecorded: () => void;
  /** Called after each round, whatever its outcome. */
  onRound?: (result: Reconciled) => void;
}

/** Reconciles immediately and then each minute. Never rejects; resolves soon after `stopping` aborts. */
export async function reconcileForever({
  logger,
  onRecorded,
  onRound = () => {},
  ...options
}: ReconcileForeverOptions): Promise<void> {
  while (!options.stopping.aborted) {
    const result = await reconcileEvents(options, new Date()).catch((cause: unknown): Reconciled => {
      logger.error({ err: cause }, "reconciliation failed");
      return { outcome: "unavailable", recorded: 0, unreadable: 0, hasBegunAnew: false, detail: "an error of our own" };
    });
    if (result.recorded > 0) onRecorded();
    onRound(result);
    report(logger, result);
    await wait(pauseSeconds[result.outcome] * 1000, undefined, { signal: options.stopping }).catch(() => {});
  }
}

function report(
  logger: ReconcileForeverOptions["logger"],
  { outcome, recorded, unreadable, hasBegunAnew, detail }: Reconciled,
): void {
  if (recorded > 0) logger.info({ recorded }, "recorded events that no webhook delivered");
  if (unreadable > 0) logger.warn({ unreadable }, "the ad service lists events of a kind unknown to this version");
  if (hasBegunAnew) logger.warn("the ad service's list was read from its start: it no longer contains our position");
  if (outcome === "unavailable") logger.warn({ detail }, "the ad service lists no events now");
}

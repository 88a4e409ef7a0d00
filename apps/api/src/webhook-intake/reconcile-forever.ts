import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "@intermission/http-server/logger";
import { type ReconcileOptions, type ReconcileOutcome, reconcileEvents } from "./reconcile-events.ts";

const pauseSeconds: Record<ReconcileOutcome["outcome"], number> = {
  done: 60,
  unavailable: 60,
  // A service of another make: it may learn the endpoint one day.
  "not-offered": 6 * 3600,
};

export interface ReconcileForeverOptions extends ReconcileOptions {
  logger: Logger;
  stopping: AbortSignal;
  onBooked: () => void;
}

/** Reconciles at once and then each minute. Never rejects; resolves soon after `stopping` aborts. */
export async function reconcileForever({
  logger,
  stopping,
  onBooked,
  ...options
}: ReconcileForeverOptions): Promise<void> {
  while (!stopping.aborted) {
    const result = await reconcileEvents(options, new Date()).catch((cause: unknown) => {
      logger.error({ err: cause }, "reconciliation failed");
      return { outcome: "unavailable", detail: "an error of our own" } as const;
    });
    if (result.outcome === "done" && result.booked > 0) {
      logger.info({ booked: result.booked }, "events were booked that no webhook brought");
      onBooked();
    }
    if (result.outcome === "unavailable") logger.warn({ detail: result.detail }, "the ad service lists no events now");
    await wait(pauseSeconds[result.outcome] * 1000, undefined, { signal: stopping }).catch(() => {});
  }
}

import { setTimeout as sleep } from "node:timers/promises";
import type { CommitGroup } from "@intermission/postgres/group-commits";
import type { AdDatabase } from "../ad-database.ts";
import type { AttemptOutcome } from "./attempt-delivery.ts";
import type { ClaimedDelivery } from "./claim-deliveries.ts";
import type { FinishedAttempt } from "./finish-deliveries.ts";
import { releaseDeliveries } from "./release-deliveries.ts";

export interface RecordAttemptDeps {
  database: AdDatabase;
  finishing: CommitGroup<FinishedAttempt, boolean>;
  log: { warn(facts: object, message: string): void; error(facts: object, message: string): void };
  /** The lease has run out, or stopping can wait no longer. */
  isTooLate: () => boolean;
}

const AGAIN_MS = 500;

/** Writes down what became of a claim. Left alone it would be sent once more: a failing write is tried while the lease lasts. */
export async function recordAttempt(
  deps: RecordAttemptDeps,
  claim: ClaimedDelivery,
  outcome: AttemptOutcome,
): Promise<void> {
  const { database, finishing, log, isTooLate } = deps;
  const { botId, eventId, attempt } = claim;
  while (true) {
    try {
      if (outcome.outcome === "not-made") return await releaseDeliveries(database, [claim], outcome);
      const isOurs = await finishing.submit(outcome.finished);
      const { state, status, errorClass } = outcome.finished;
      if (!isOurs) log.warn({ botId, eventId, attempt }, "an attempt ended after another claim of its delivery");
      else if (state === "failed" || state === "unknown") {
        log.warn({ botId, eventId, attempt, state, status, errorClass }, "a webhook will not be sent again by itself");
      }
      return;
    } catch (error) {
      if (isTooLate()) {
        return log.error({ err: error, botId, eventId }, "an attempt could not be recorded; its lease will run out");
      }
      await sleep(AGAIN_MS);
    }
  }
}

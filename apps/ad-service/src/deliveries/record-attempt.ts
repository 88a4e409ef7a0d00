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
  /** The lease has run out, or a stop no longer waits. */
  isTooLate: () => boolean;
}

const AGAIN_MS = 500;

/** Records the outcome of a claim. Retries while the lease lasts: an unrecorded delivery would be sent again. */
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
        log.warn(
          { botId, eventId, attempt, state, status, errorClass },
          "a webhook will not be sent again automatically",
        );
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

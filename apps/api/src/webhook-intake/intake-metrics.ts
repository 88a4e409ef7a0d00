import { durationHistogram } from "@intermission/server/duration-histogram";
import { Counter, Gauge, type Registry } from "prom-client";
import type { RefusalCounter } from "./count-refusals.ts";
import type { ReceiveWebhook, ReceiveWebhookOutcome } from "./receive-webhook.ts";
import type { Reconciled } from "./reconcile-events.ts";
import type { RecordedCount } from "./record-events.ts";

export interface IntakeMetrics {
  /** Counts each webhook's outcome and duration. */
  measured(receive: ReceiveWebhook): ReceiveWebhook;
  /** Of webhook events: the new ones, paid or not. The rest were known. */
  recorded(counts: readonly RecordedCount[], lines: number): void;
  /** Also counts webhooks that were refused before their signature was verified. */
  alsoCounting(refusals: RefusalCounter): RefusalCounter;
  reconciled(result: Pick<Reconciled, "outcome" | "recorded">, now: number): void;
  /** Counts the reader of these entries while it reads. */
  watched<Entry>(entries: AsyncIterable<Entry>): AsyncIterable<Entry>;
}

const upToSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Recorded events get their outcome from the ledger, and a bad signature leaves no receipt. */
const receiptOf = {
  recorded: undefined,
  unmatched: "unmatched",
  "bad-signature": undefined,
  "bad-shape": "invalid",
  "foreign-bot": "invalid",
} as const satisfies Record<ReceiveWebhookOutcome["outcome"], string | undefined>;

/** The operator's metrics of the webhooks' way into the ledger. All of them are this node's since its start. */
export function intakeMetrics(registry: Registry): IntakeMetrics {
  const receipts = new Counter({
    name: "intermission_receipts_total",
    help: "Signed webhooks by outcome; unavailable are those whose recording failed or is unknown.",
    labelNames: ["outcome"],
    registers: [registry],
  });
  for (const outcome of ["credited", "refused", "duplicate", "unmatched", "invalid", "unavailable"])
    receipts.inc({ outcome }, 0);
  const took = durationHistogram(registry, {
    name: "intermission_receipt_duration_seconds",
    help: "Time from a webhook's bytes to its commit.",
    upToSeconds,
  })();
  const refused = new Counter({
    name: "intermission_refused_webhooks_total",
    help: "Webhooks refused before their signature was verified, by reason.",
    labelNames: ["reason"],
    registers: [registry],
  });
  const watchers = new Gauge({
    name: "intermission_reward_watchers",
    help: "Number of callers that watch the ledger now.",
    registers: [registry],
  });
  const { reconciled } = reconciliationMetrics(registry);
  return {
    measured: (receive) => async (request, now) => {
      const startedAt = performance.now();
      try {
        const result = await receive(request, now);
        const outcome = receiptOf[result.outcome];
        if (outcome !== undefined) receipts.inc({ outcome });
        return result;
      } catch (error) {
        receipts.inc({ outcome: "unavailable" });
        throw error;
      } finally {
        took((performance.now() - startedAt) / 1000);
      }
    },
    recorded(counts, lines) {
      let isNew = 0;
      for (const { reason, events } of counts) {
        isNew += events;
        receipts.inc({ outcome: reason === null ? "credited" : "refused" }, events);
      }
      receipts.inc({ outcome: "duplicate" }, lines - isNew);
    },
    alsoCounting: (refusals) => ({
      ...refusals,
      count(reason) {
        refused.inc({ reason });
        refusals.count(reason);
      },
    }),
    reconciled,
    async *watched(entries) {
      watchers.inc();
      try {
        yield* entries;
      } finally {
        watchers.dec();
      }
    },
  };
}

function reconciliationMetrics(registry: Registry): Pick<IntakeMetrics, "reconciled"> {
  const gap = new Counter({
    name: "intermission_reconciled_events_total",
    help: "Events that reconciliation found and no webhook delivered.",
    registers: [registry],
  });
  let lastSuccessAt: number | undefined;
  new Gauge({
    name: "intermission_reconciliation_age_seconds",
    help: "Seconds since the ad service's list was last read to its end; NaN before the first time.",
    registers: [registry],
    collect() {
      this.set(lastSuccessAt === undefined ? Number.NaN : (performance.now() - lastSuccessAt) / 1000);
    },
  });
  return {
    reconciled({ outcome, recorded }, now) {
      gap.inc(recorded);
      if (outcome === "done") lastSuccessAt = now;
    },
  };
}

import type { WebhookFault } from "@intermission/ad-core/webhook-refusal";
import { type Database, statement } from "@intermission/postgres/open-database";
import type { Logger } from "@intermission/server/logger";
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { ReceiveWebhook, ReceiveWebhookOutcome } from "./receive-webhook.ts";
import type { Reconciled } from "./reconcile-events.ts";
import type { RecordedCount } from "./record-events.ts";

export type RefusalReason = WebhookFault | "too-large" | "wrong-content-type" | "malformed-request";

export interface RefusalCounter {
  /**
   * Costs only memory and, once a minute for each kind, a log line: anyone can send unsigned requests. `because` says what to
   * do, without their content. `kind` is finer than the reason, and by default the same.
   */
  count(reason: RefusalReason, because: string, kind?: string): void;
  /** Writes the counts since the last flush. Rejects when the database does. */
  flush(): Promise<void>;
}

const FLUSH_AFTER_MS = 60_000;

const keepCounts = statement<never>(
  "receipts.count-refusals",
  `with removed as (delete from refused_webhooks where bot_id = $1 and hour < now() - interval '30 days')
insert into refused_webhooks as kept (bot_id, hour, reason, refused, last_at)
select $1, date_trunc('hour', now()), reason, refused, now()
from unnest($2::text[], $3::bigint[]) as counted(reason, refused) order by reason
on conflict (bot_id, hour, reason) do update set refused = kept.refused + excluded.refused, last_at = excluded.last_at`,
);

/**
 * Counts webhooks without a valid signature: one row per hour and reason, and at most one write a minute. The first of each
 * kind in a minute is logged at once with its cause, and the further ones at the end of the minute with their number.
 */
export function countRefusals(
  database: Pick<Database, "run">,
  botId: string,
  logger: Pick<Logger, "warn">,
): RefusalCounter {
  let counts = new Map<RefusalReason, number>();
  let ofThisMinute = new Map<string, number>();
  let isDue = false;

  function add(reason: RefusalReason, number: number): void {
    counts.set(reason, (counts.get(reason) ?? 0) + number);
    if (!isDue) setTimeout(endMinute, FLUSH_AFTER_MS).unref();
    isDue = true;
  }

  function endMinute(): void {
    isDue = false;
    const refused = Object.fromEntries([...ofThisMinute].filter(([, number]) => number > 1));
    ofThisMinute = new Map();
    if (Object.keys(refused).length > 0)
      logger.warn({ botId, refused }, "webhooks were refused within a minute before their signature was verified");
    flush().catch((error: unknown) => logger.warn({ err: error }, "refused webhooks could not be counted"));
  }

  async function flush(): Promise<void> {
    if (counts.size === 0) return;
    const flushed = counts;
    counts = new Map();
    try {
      await database.run(keepCounts, [botId, [...flushed.keys()], [...flushed.values()]]);
    } catch (error) {
      for (const [reason, number] of flushed) add(reason, number);
      throw error;
    }
  }

  return {
    count(reason, because, kind = reason) {
      const number = (ofThisMinute.get(kind) ?? 0) + 1;
      ofThisMinute.set(kind, number);
      if (number === 1) logger.warn({ botId, reason }, `a webhook was refused: ${because}`);
      add(reason, 1);
    },
    flush,
  };
}

export interface IntakeMetrics {
  /** Counts each webhook's outcome and duration. */
  measured(receive: ReceiveWebhook): ReceiveWebhook;
  /** Of webhook events: the new ones, paid or not. The rest were known. */
  recorded(counts: readonly RecordedCount[], lines: number): void;
  /** Also counts webhooks that were refused before their signature was verified. */
  alsoCounting(refusals: RefusalCounter): RefusalCounter;
  /** `botIds`: the bots that are reconciled now. */
  reconciled(
    botId: string,
    result: Pick<Reconciled, "outcome" | "recorded">,
    now: number,
    botIds: readonly string[],
  ): void;
  /** Counts the reader of these entries while it reads. */
  watched<Entry>(entries: AsyncIterable<Entry>): AsyncIterable<Entry>;
}

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
  for (const outcome of ["credited", "reversed", "refused", "duplicate", "unmatched", "invalid", "unavailable"])
    receipts.inc({ outcome }, 0);
  const took = new Histogram({
    name: "intermission_receipt_duration_seconds",
    help: "Time from a webhook's bytes to its commit.",
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  const refused = new Counter({
    name: "intermission_refused_webhooks_total",
    help: "Webhooks refused before their signature was verified, by reason.",
    labelNames: ["reason"],
    registers: [registry],
  });
  // An alert compares it with what it was before the first one.
  refused.inc({ reason: "wrong-signature" satisfies RefusalReason }, 0);
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
        took.observe((performance.now() - startedAt) / 1000);
      }
    },
    recorded(counts, lines) {
      let isNew = 0;
      for (const { reason, events } of counts) {
        isNew += events;
        receipts.inc({ outcome: reason === null ? "credited" : reason === "reversed" ? reason : "refused" }, events);
      }
      receipts.inc({ outcome: "duplicate" }, lines - isNew);
    },
    alsoCounting: (refusals) => ({
      ...refusals,
      count(reason, because, kind) {
        refused.inc({ reason });
        refusals.count(reason, because, kind);
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
  /** Before the first success, since when there was none; undefined where the service has no list. */
  let readAt = new Map<string, number | undefined>();
  const startedAt = performance.now();
  new Gauge({
    name: "intermission_reconciliation_age_seconds",
    help: "Seconds since the ad service's list was last read to its end, or since the start, of the bot that waits longest; NaN without a bot.",
    registers: [registry],
    collect() {
      const times = [...readAt.values()].filter((at) => at !== undefined);
      this.set(times.length === 0 ? Number.NaN : (performance.now() - Math.min(...times)) / 1000);
    },
  });
  return {
    reconciled(botId, { outcome, recorded }, now, botIds) {
      gap.inc(recorded);
      const before = readAt;
      const since = (id: string) => (before.has(id) ? before.get(id) : startedAt);
      const at = outcome === "done" ? now : outcome === "not-offered" ? undefined : (since(botId) ?? now);
      readAt = new Map(botIds.map((id) => [id, id === botId ? at : since(id)]));
    },
  };
}

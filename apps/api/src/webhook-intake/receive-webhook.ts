import { createHash } from "node:crypto";
import { ledgerEventType } from "@intermission/ad-core/event-words";
import { parseWebhookEvent, type WebhookEvent } from "@intermission/ad-core/webhook-event";
import type { WebhookRefusal } from "@intermission/ad-core/webhook-refusal";
import { eventType } from "@intermission/ad-core/wire-fields";
import { groupCommits } from "@intermission/postgres/group-commits";
import { type Database, type Runner, statement } from "@intermission/postgres/open-database";
import { storableText } from "@intermission/postgres/storable-text";
import type { Logger } from "@intermission/server/logger";
import type { Payout, TwoFieldMode } from "../bots/bot-records.ts";
import { judgeSignature, type WebhookRequest } from "./judge-signature.ts";
import { logRecorded } from "./log-recorded.ts";
import type { EventLine } from "./record-events.ts";
import { isStorableLine, type RecordedCount, recordEvents, revenueIn } from "./record-events.ts";
import { recordTwoFieldEvent, type UnmatchedReason } from "./record-two-field-event.ts";

/** Enough to identify it; the sender has the rest. */
const KEPT_CHARACTERS = 4096;

// The bytes are the key: repeats stay one row.
const keep = statement<never>(
  "receipts.keep-invalid",
  `insert into receipts as kept (bot_id, event_id, raw_body, signature, invalid_reason)
values ($1, $2, $3, decode(substr($4, 8), 'hex'), $5)
on conflict (bot_id, event_id) do update set duplicates = kept.duplicates + 1, last_duplicate_at = now()`,
);

const MAX_REASON = 500;

/**
 * Keeps a webhook that was signed with a token of ours but is not an event for us, so that an operator can see why it
 * was refused.
 */
async function keepInvalidWebhook(
  runner: Pick<Runner, "run">,
  botId: string,
  { body, signatureHeader, reason }: { body: Uint8Array; signatureHeader: string; reason: string },
): Promise<void> {
  const id = `invalid:${createHash("sha256").update(body).digest("hex")}`;
  const text = storableText(Buffer.from(body).toString("utf8"), KEPT_CHARACTERS);
  await runner.run(keep, [botId, id, text, signatureHeader, storableText(reason, MAX_REASON)]);
}

export type ReceiveWebhookOutcome =
  /** In the ledger, now or since an earlier delivery; paid, or with the reason why not. */
  | { outcome: "recorded" }
  | { outcome: "unmatched"; reason: UnmatchedReason }
  /** Nothing was kept. */
  | { outcome: "bad-signature"; refusal: WebhookRefusal }
  /** Signed, and kept as a receipt with the reason. */
  | { outcome: "bad-shape"; message: string }
  | { outcome: "foreign-bot" };

export type ReceiveWebhook = (request: WebhookRequest, now: Date) => Promise<ReceiveWebhookOutcome>;

export interface ReceiveWebhookOptions {
  database: Database;
  botId: string;
  tokens: readonly string[];
  payout: Payout;
  twoFieldEvents: TwoFieldMode;
  logger: Pick<Logger, "debug" | "info" | "isLevelEnabled">;
  /** Called after each commit that may have added entries. */
  onRecorded: () => void;
  /** The new events of each batch of webhooks; events outside the counts were known. */
  onBatch?: (counts: readonly RecordedCount[], lines: number) => void;
}

/** Returns the receiver. It resolves only after the commit, so that a 2xx answer means that the event is stored. */
export function receiveWebhook({ database, botId, payout, ...options }: ReceiveWebhookOptions): ReceiveWebhook {
  const group = groupCommits<EventLine, undefined>({
    name: "events",
    async run(lines) {
      const counts = await recordEvents(database, botId, payout, lines);
      options.onBatch?.(counts, lines.length);
      logRecorded(options.logger, { botId, source: "webhook" }, lines, counts);
      if (counts.length > 0) options.onRecorded();
      return lines.map(() => undefined);
    },
    // Two batches in flight would be half as large, and cost PostgreSQL 55 instead of 40 µs an event.
    maxInFlight: 1,
  });

  return async (request, now) => {
    const { body, headers } = request;
    const verdict = judgeSignature(request, options.tokens, now);
    if (verdict.outcome === "not-signed") return { outcome: "bad-signature", refusal: verdict.refusal };
    const signatureHeader = String(headers["x-signature"]);
    const refuse = async <Refusal extends ReceiveWebhookOutcome>(refusal: Refusal, reason: string) => {
      await keepInvalidWebhook(database, botId, { body, signatureHeader, reason });
      return refusal;
    };
    const parsed = parseWebhookEvent(body);
    if (parsed.outcome === "invalid") return refuse({ outcome: "bad-shape", message: parsed.message }, parsed.message);
    const { event } = parsed;
    if (isForeign(headers["x-bot-id"], botId) || isForeign(event.bot_id, botId)) {
      return refuse({ outcome: "foreign-bot" }, "it belongs to another bot");
    }
    const rawBody = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8");
    const eventId = idOf(event);
    const kindOfEvent = ledgerEventType.safeParse(event.event);
    // It rewards nobody, and this ledger has no entry for it: the webhook stays undelivered, in the open.
    if (!kindOfEvent.success) return refuse({ outcome: "bad-shape", message: noReward }, noReward);
    const line = {
      eventId: eventId ?? "",
      event: kindOfEvent.data,
      userId: event.user_tg_id,
      code: event.code ?? null,
      reference: event.reference || null,
      startParam: event.start_param ?? null,
      revenue: revenueIn(event),
      occurredAt: event.occurred_at ?? null,
      isTest: event.test === true || event.user_tg_id === "0",
      rawBody,
      signatureHeader,
    };
    if (!isStorableLine(line)) {
      const message = "a field contains U+0000 or half a surrogate pair";
      return refuse({ outcome: "bad-shape", message }, message);
    }
    if (eventId !== undefined) {
      await group.submit(line);
      return { outcome: "recorded" };
    }
    const kind = eventType.safeParse(line.event);
    // Only views and clicks may be found by the codes that were requested.
    if (!kind.success) return refuse({ outcome: "bad-shape", message: unnamedTask }, unnamedTask);
    const found = { ...line, event: kind.data };
    const outcome = await recordTwoFieldEvent(database, botId, payout, options.twoFieldEvents, found);
    if (outcome.outcome === "recorded") {
      options.onBatch?.([{ reason: null, events: 1, eventIds: [] }], 1);
      options.logger.info(
        { botId, userId: line.userId, event: line.event, source: "webhook" },
        "an event without an id is paid",
      );
    }
    options.onRecorded();
    return outcome;
  };
}

const noReward =
  "an interstitial rewards nobody, and this API records rewards alone: receive it in the bot's own backend";
const unnamedTask = "an event of a task names neither its event_id nor its code";

function isForeign(botId: string | string[] | undefined, ours: string): boolean {
  return botId !== undefined && botId !== ours;
}

/** A code earns each kind of event once, so code and kind are the id if a service sends none. */
function idOf(event: WebhookEvent): string | undefined {
  return event.event_id ?? (event.code && `${event.code}:${event.event}`);
}

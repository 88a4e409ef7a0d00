import { randomUUID } from "node:crypto";
import type { EventType } from "@intermission/ad-core/wire-fields";
import { type Database, statement } from "@intermission/postgres/open-database";
import type { Payout, TwoFieldMode } from "../bots/bot-records.ts";
import { recordBatch } from "./record-events.ts";

/** Equal events closer together than this count as repeats: the ad service's default cooldown. */
const EQUAL_EVENTS_APART_SECONDS = 60;

/** Prefix of the ids that are made here for events without one. */
const TWO_FIELD_PREFIX = "two-field:";

const lockUser = statement<never>("two-field.lock-user", "select pg_advisory_xact_lock(hashtextextended($1, 0))");

const findEqualEvent = statement<{ eventId: string }>(
  "two-field.find-equal-event",
  `select event_id as "eventId" from ledger_entries
where bot_id = $1 and user_id = $2 and event = $3 and starts_with(event_id, $5)
  and recorded_at > now() - make_interval(secs => $4)
limit 1`,
);

// An event from just before the code expired may be reported until the service's last attempt, 72 hours later.
const findCode = statement<{ code: string }>(
  "two-field.find-code",
  `select code from codes
where bot_id = $1 and user_id = $2 and expires_at > now() - interval '72 hours 10 minutes'
  and not exists (
    select from ledger_entries as entry where entry.bot_id = $1 and entry.code = codes.code and entry.event = $3
      and coalesce(reason, '') not in ('test', 'code-of-another-user') offset 0
  )
order by issued_at, code limit 1`,
);

// One row per user, kind and cooldown, so that repeats of a captured webhook do not fill the disk.
const keepUnmatched = statement<never>(
  "two-field.keep-unmatched",
  `insert into receipts as kept (bot_id, event_id, event, user_id, raw_body, signature, unmatched_reason)
values ($1, format('unmatched:%s:%s:%s', $2::text, $3::text, floor(extract(epoch from now()) / $4::integer)), $3, $2, $5,
  decode(substr($6, 8), 'hex'), $7)
on conflict (bot_id, event_id) do update set duplicates = kept.duplicates + 1, last_duplicate_at = now()`,
);

export type UnmatchedReason = "no-event-id" | "repeated-within-cooldown" | "no-open-code";

interface TwoFieldEvent {
  event: EventType;
  userId: string;
  isTest: boolean;
  rawBody: string;
  signatureHeader: string;
}

/**
 * Records an event without an id of its own on the user's oldest code that has not earned it, or keeps it as unmatched.
 * Two views by one user are byte-identical, so this is not replay-safe: a captured webhook that is sent again after the
 * cooldown uses up the user's next open code.
 */
export async function recordTwoFieldEvent(
  database: Pick<Database, "transaction">,
  botId: string,
  payout: Payout,
  mode: TwoFieldMode,
  event: TwoFieldEvent,
): Promise<{ outcome: "recorded" } | { outcome: "unmatched"; reason: UnmatchedReason }> {
  return database.transaction(async (tx) => {
    const keep = async (reason: UnmatchedReason) => {
      const { rawBody, signatureHeader } = event;
      const bucket = EQUAL_EVENTS_APART_SECONDS;
      await tx.run(keepUnmatched, [botId, event.userId, event.event, bucket, rawBody, signatureHeader, reason]);
      return { outcome: "unmatched", reason } as const;
    };
    if (mode === "off") return keep("no-event-id");
    // Two concurrent equal events must not take two codes: the second reads only after the first has committed.
    await tx.run(lockUser, [`two-field:${botId}:${event.userId}`]);
    const equalEvents = await tx.run(findEqualEvent, [
      botId,
      event.userId,
      event.event,
      EQUAL_EVENTS_APART_SECONDS,
      TWO_FIELD_PREFIX,
    ]);
    if (equalEvents.length > 0) return keep("repeated-within-cooldown");
    const [open] = event.isTest ? [] : await tx.run(findCode, [botId, event.userId, event.event]);
    if (!open) return keep("no-open-code");
    const line = {
      ...event,
      eventId: `${TWO_FIELD_PREFIX}${randomUUID()}`,
      code: open.code,
      reference: null,
      startParam: null,
      revenue: null,
      occurredAt: null,
    };
    await recordBatch(tx, botId, payout, [{ line, repeats: 0 }], { isRetry: true });
    return { outcome: "recorded" };
  });
}

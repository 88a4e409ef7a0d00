import { type Database, statement } from "@intermission/postgres/open-database";
import { bookEvents } from "./book-events.ts";
import type { EventLine, Payout } from "./schema.ts";

/** Equal events closer together than this are taken for repeats: the ad service's default cooldown. */
const equalEventsApartSeconds = 60;

const lockUser = statement<unknown>("lock-two-field-user", "select pg_advisory_xact_lock(hashtextextended($1, 0))");

const findTwin = statement<{ event_id: string }>(
  "find-two-field-twin",
  `select event_id from receipts
where bot_id = $1 and user_id = $2 and event = $3 and is_two_field and unmatched_reason is null
  and received_at > now() - make_interval(secs => $4)
limit 1`,
);

// What was shown just before the code expired may be reported until the service's last attempt, 72 hours later.
const findCode = statement<{ code: string }>(
  "find-two-field-code",
  `select code from codes
where bot_id = $1 and user_id = $2 and issued_at is not null
  and expires_at > now() - interval '72 hours 10 minutes'
  and case $3 when 'rewarded' then rewarded_by else direct_link_by end is null
order by issued_at, code limit 1`,
);

// One row per user, kind and cooldown, so that a captured webhook sent again and again fills no disk.
const keepUnmatched = statement<unknown>(
  "keep-unmatched",
  `insert into receipts as kept (bot_id, event_id, event, user_id, raw_body, signature_header, is_two_field, unmatched_reason)
values ($1, format('unmatched:%s:%s:%s', $2::text, $3::text, floor(extract(epoch from now()) / $4::integer)), $3, $2, $5, $6,
  true, $7)
on conflict (bot_id, event_id) do update set duplicates = kept.duplicates + 1, last_duplicate_at = now()`,
);

export type UnmatchedReason = "no-event-id" | "repeated-within-cooldown" | "no-open-code";

interface TwoFieldEvent {
  event: "rewarded" | "direct_link";
  userId: string;
  isTest: boolean;
  rawBody: string;
  signatureHeader: string;
  /** Made for this arrival: the event brought none. */
  eventId: string;
}

/**
 * Books an event that carries no id of its own on the user's oldest code that has not earned it, or keeps it as unmatched.
 * Two views by one user are byte-identical, so this is not replay-safe: a captured webhook, sent again after the cooldown,
 * takes the user's next open code.
 */
export async function bookTwoFieldEvent(
  database: Pick<Database<unknown>, "transaction">,
  botId: string,
  payout: Payout,
  mode: "off" | "match",
  event: TwoFieldEvent,
): Promise<{ outcome: "booked" } | { outcome: "unmatched"; reason: UnmatchedReason }> {
  return database.transaction(async (tx) => {
    const keep = async (reason: UnmatchedReason) => {
      const { rawBody, signatureHeader } = event;
      const bucket = equalEventsApartSeconds;
      await tx.run(keepUnmatched, [botId, event.userId, event.event, bucket, rawBody, signatureHeader, reason]);
      return { outcome: "unmatched", reason } as const;
    };
    if (mode === "off") return keep("no-event-id");
    // Two equal events at once must not take two codes: the second looks only after the first has committed.
    await tx.run(lockUser, [`two-field:${botId}:${event.userId}`]);
    const twins = await tx.run(findTwin, [botId, event.userId, event.event, equalEventsApartSeconds]);
    if (twins.length > 0) return keep("repeated-within-cooldown");
    const [open] = event.isTest ? [] : await tx.run(findCode, [botId, event.userId, event.event]);
    if (!open) return keep("no-open-code");
    await bookEvents(tx, botId, payout, [lineOf(event, open.code)]);
    return { outcome: "booked" };
  });
}

function lineOf(event: TwoFieldEvent, code: string): EventLine {
  return { ...event, code, reference: null, occurredAt: null, isTwoField: true };
}

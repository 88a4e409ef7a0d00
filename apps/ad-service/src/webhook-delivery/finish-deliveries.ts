import { type CommitGroup, groupCommits } from "@intermission/postgres/group-commits";
import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase } from "../ad-database.ts";
import type { DeliveryState } from "./schema.ts";

/** What became of one claimed delivery. */
export interface FinishedAttempt {
  botId: string;
  eventId: string;
  fence: number;
  attempt: number;
  state: Extract<DeliveryState, "waiting" | "delivered" | "failed" | "unknown">;
  /** Until the next attempt, when `waiting`. */
  delaySeconds: number | null;
  startedAt: Date;
  url: string;
  address: string | null;
  status: number | null;
  errorClass: string | null;
  connectMs: number | null;
  firstByteMs: number | null;
  totalMs: number | null;
  responseText: string | null;
}

const columns: readonly (readonly [name: string, type: string, value: (finished: FinishedAttempt) => unknown])[] = [
  ["bot_id", "text", ({ botId }) => botId],
  ["event_id", "text", ({ eventId }) => eventId],
  ["fence", "bigint", ({ fence }) => fence],
  ["attempt", "integer", ({ attempt }) => attempt],
  ["state", "text", ({ state }) => state],
  ["delay_seconds", "float8", ({ delaySeconds }) => delaySeconds],
  ["started_at", "timestamptz", ({ startedAt }) => startedAt],
  ["url", "text", ({ url }) => url],
  ["address", "text", ({ address }) => address],
  ["status", "integer", ({ status }) => status],
  ["error_class", "text", ({ errorClass }) => errorClass],
  ["connect_ms", "integer", ({ connectMs }) => rounded(connectMs)],
  ["first_byte_ms", "integer", ({ firstByteMs }) => rounded(firstByteMs)],
  ["total_ms", "integer", ({ totalMs }) => rounded(totalMs)],
  ["response_text", "text", ({ responseText }) => responseText],
];

// The fence alone decides: who claimed last may finish, even after its lease ran out, as long as nobody claimed again.
const finish = statement<Pick<FinishedAttempt, "botId" | "eventId" | "fence">>(
  "deliveries.finish",
  `with finished as (
    select * from unnest(${columns.map(([, type], index) => `$${index + 1}::${type}[]`).join(", ")})
      as finished(${columns.map(([name]) => name).join(", ")})
  ),
  moved as (
    update deliveries set state = finished.state, attempts = finished.attempt, lease_until = null,
      due_at = case finished.state when 'waiting' then now() + make_interval(secs => finished.delay_seconds) else due_at end,
      finished_at = case finished.state when 'waiting' then null else now() end
    from finished
    where deliveries.bot_id = finished.bot_id and deliveries.event_id = finished.event_id and deliveries.fence = finished.fence
    returning deliveries.bot_id, deliveries.event_id, deliveries.fence,
      case deliveries.state when 'waiting' then deliveries.due_at end as next_at
  ),
  logged as (
    insert into delivery_attempts (bot_id, event_id, attempt, started_at, url, address, status, error_class,
      connect_ms, first_byte_ms, total_ms, response_text, next_at)
    select bot_id, event_id, attempt, started_at, url, address, status, error_class,
      connect_ms, first_byte_ms, total_ms, response_text, next_at
    from finished join moved using (bot_id, event_id, fence)
    on conflict do nothing
  )
  select bot_id as "botId", event_id as "eventId", fence from moved`,
);

/** Books finished attempts and their log rows, many in one commit. False: another claim holds the delivery by now. */
export function finishDeliveries(database: AdDatabase): CommitGroup<FinishedAttempt, boolean> {
  return groupCommits<FinishedAttempt, boolean>({
    maxInFlight: database.kind === "embedded" ? 1 : 2,
    orderBy: keyOf,
    async run(batch) {
      const rows = await database.run(
        finish,
        columns.map(([, , value]) => batch.map(value)),
      );
      const moved = new Set(rows.map(keyOf));
      return batch.map((finished) => moved.has(keyOf(finished)));
    },
  });
}

function keyOf({ botId, eventId, fence }: Pick<FinishedAttempt, "botId" | "eventId" | "fence">): string {
  return `${botId} ${eventId} ${fence}`;
}

function rounded(milliseconds: number | null): number | null {
  return milliseconds === null ? null : Math.round(milliseconds);
}

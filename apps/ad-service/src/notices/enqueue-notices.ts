import { QUIET_SECONDS } from "./notice.ts";

/**
 * CTEs that make notices in the statement that changes the health of endpoints, so that both commit together. `from` names a
 * CTE with bot_id, health (a `NoticeHealth`, null: no notice), reason, url, status and error_class, each bot once.
 *
 * An address is sent a health that differs from the last one made for it. While a notice waits, or within the quiet time
 * after one, further changes are summed up in one row: a flapping endpoint causes one notice in that time.
 */
export function enqueueNotices(from: string): string {
  return `noticed as (
    update notice_receivers set health = changed.health
    from (select * from ${from} as changes where changes.health is not null order by bot_id) as changed
    where notice_receivers.bot_id = changed.bot_id and notice_receivers.health <> changed.health
    returning channel, quiet_until, changed.*
  ),
  notices_made as (
    insert into notices (bot_id, channel, notice_id, health, reason, url, last_status, last_error_class, due_at)
    select bot_id, channel, 'ntc_' || replace(gen_random_uuid()::text, '-', ''), health, reason, url, status, error_class,
      greatest(now(), quiet_until)
    from noticed order by bot_id, channel
    on conflict (bot_id, channel) do update set occurred_at = now(), changes = notices.changes + 1,
      ${["notice_id", "health", "reason", "url", "last_status", "last_error_class"].map((column) => `${column} = excluded.${column}`).join(", ")},
      -- A notice that is being retried keeps its schedule.
      due_at = greatest(excluded.due_at, case when notices.attempts > 0 then notices.due_at end)
  )`;
}

/** How long an address is sent no further notice after one. */
export const quietUntil = `now() + interval '${QUIET_SECONDS} seconds'`;

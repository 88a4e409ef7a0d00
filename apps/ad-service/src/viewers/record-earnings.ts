/**
 * The SQL of a CTE that counts what was earned towards cooldown and daily cap. `from` names a CTE of the same statement
 * with `bot_id`, `user_id` and `occurred_at`, one row for each event that was truly made.
 *
 * Several rows of one viewer are merged, since one upsert may not meet a row twice, and viewers are taken in the order
 * of their keys, so that two batches never wait for one another.
 */
export function recordEarnings(from: string): string {
  return `
    insert into viewers (bot_id, user_id, day, earned_today, last_earned_at)
    select bot_id, user_id, max((occurred_at at time zone 'utc')::date), count(*), max(occurred_at)
    from ${from} group by bot_id, user_id order by bot_id, user_id
    on conflict (bot_id, user_id) do update set
      earned_today = excluded.earned_today + case when viewers.day >= excluded.day then viewers.earned_today else 0 end,
      day = greatest(viewers.day, excluded.day),
      last_earned_at = greatest(viewers.last_earned_at, excluded.last_earned_at)`;
}

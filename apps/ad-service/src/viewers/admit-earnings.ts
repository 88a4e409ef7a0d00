/**
 * The SQL of a CTE that admits what would be earned under the bot's cooldown and daily cap, and counts it towards both, for
 * views and clicks alike. `from` names a CTE of the same statement with `bot_id`, `user_id` and `occurred_at`, and at most
 * one row for each viewer; `reserved` is a column of it: views of the viewer that began and may still earn. Returns the
 * `bot_id` and `user_id` of those admitted.
 *
 * The viewer's row is the lock: parallel statements, on any node, wait here and judge what the one before them left.
 * Viewers are taken in the order of their keys, so that two batches never wait for one another.
 */
export function admitEarnings({ from, reserved = "0" }: { from: string; reserved?: string }): string {
  return `
    insert into viewers (bot_id, user_id, day, earned_today, last_earned_at)
    select bot_id, user_id, (occurred_at at time zone 'utc')::date, 1, occurred_at
    from ${from} order by bot_id, user_id
    on conflict (bot_id, user_id) do update set
      earned_today = 1 + case when viewers.day >= excluded.day then viewers.earned_today else 0 end,
      day = greatest(viewers.day, excluded.day),
      last_earned_at = greatest(viewers.last_earned_at, excluded.last_earned_at)
    where (select cooldown_seconds = 0 or viewers.last_earned_at is null
          or excluded.last_earned_at >= viewers.last_earned_at + make_interval(secs => cooldown_seconds)
        from bots where bots.bot_id = excluded.bot_id)
      and (case when viewers.day >= excluded.day then viewers.earned_today else 0 end
          + (select max(${reserved}) from ${from} as own
             where own.bot_id = excluded.bot_id and own.user_id = excluded.user_id)
          < (select daily_cap from bots where bots.bot_id = excluded.bot_id))
    returning bot_id, user_id`;
}

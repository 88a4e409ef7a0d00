/**
 * Deliveries wait while their endpoint is active, and are held while it is not. Each move takes a batch of each bot, skips
 * rows that another statement has locked, and leaves the rest to the sweep.
 */
const moves = {
  waiting: { from: "held", order: "event_id", changes: "state = 'waiting', due_at = now()" },
  held: { from: "waiting", order: "is_bulk, due_at", changes: "state = 'held'" },
} as const;

/** Rows of one statement, to keep it short. */
export const MAX_MOVED = 1000;

/**
 * SQL that moves deliveries of some bots between `held` and `waiting`. `bots`: a query with bot_id, each bot once. The state
 * is a literal, so that the planner uses the partial index.
 */
export function moveDeliveries({ to, bots }: { to: keyof typeof moves; bots: string }): string {
  const { from, order, changes } = moves[to];
  return `update deliveries set ${changes}
    from (
      select movable.bot_id, movable.event_id from (${bots}) as of_bot
      cross join lateral (
        select deliveries.bot_id, event_id from deliveries
        where deliveries.bot_id = of_bot.bot_id and deliveries.state = '${from}'
        order by ${order} limit ${MAX_MOVED} for update skip locked
      ) as movable
      limit ${MAX_MOVED}
    ) as movable
    where deliveries.bot_id = movable.bot_id and deliveries.event_id = movable.event_id`;
}

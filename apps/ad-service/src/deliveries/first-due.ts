/** SQL for when a bot's first waiting delivery is due, bulk replays included; null when none waits. */
export const firstDue = (bot: string) => `(
    select min(due_at) from (${lane(bot, false)} union all ${lane(bot, true)}) as lanes
  )`;

const lane = (bot: string, isBulk: boolean) => `(
      select due_at from deliveries
      where deliveries.bot_id = ${bot} and deliveries.state = 'waiting' and is_bulk = ${isBulk} order by due_at limit 1
    )`;

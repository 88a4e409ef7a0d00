/*
 * Claims at most `slots` of the events that the calling statement has just made, for the node that runs it, and returns them
 * to be sent. The calling statement inserts their deliveries as claimed.
 *
 * An endpoint must meet the loop's conditions (claim-deliveries.ts): active, no backoff, breaker closed, capacity left, least
 * recently served first, under a lock on its claims. The function never waits for a row that another statement has locked,
 * since the calling statement has locked rows that visitors wait for: such events wait for the loop. So do the events of an
 * endpoint with due deliveries: older deliveries go first, so that a backlog is never overtaken forever. Bulk replays may be
 * overtaken, as in the loop.
 */
create function claim_new_events(bot_ids text[], event_ids text[], slots integer)
returns table (bot_id text, event_id text, url text, delivery_mode text) language plpgsql as $$
#variable_conflict use_column
begin
  if slots > 0 then
    return query
    with ready_endpoints as materialized (
      select of_bot.bot_id, url, ended, room, last_served_at
      from (select distinct bot_id from unnest(bot_ids) as made (bot_id)) as of_bot
      cross join lateral (
        select url, ended, max_in_flight - greatest(0, claimed - ended) as room, last_served_at
        from endpoint_claims join endpoints using (bot_id)
        where endpoint_claims.bot_id = of_bot.bot_id and state = 'active' and breaker = 'closed'
          and backoff_until <= now() and claimed - ended < max_in_flight
          and (
            select due_at from deliveries where deliveries.bot_id = endpoints.bot_id and deliveries.state = 'waiting'
              and is_bulk = false and due_at <= now() order by due_at limit 1
          ) is null
        for update of endpoint_claims skip locked
      ) as endpoint
    ),
    taken as (
      select ready.bot_id, id, url, ended, (select delivery_mode from bots where bots.bot_id = ready.bot_id) as delivery_mode
      from (select * from ready_endpoints order by last_served_at) as ready
      cross join lateral (
        select id from unnest(bot_ids, event_ids) as made (bot_id, id) where made.bot_id = ready.bot_id
        order by id limit room
      ) as made
      limit slots
    ),
    served as (
      update endpoint_claims set claimed = greatest(claimed, ended) + number, last_served_at = clock_timestamp()
      from (select bot_id, ended, count(*) as number from taken group by bot_id, ended) as of_endpoint
      where endpoint_claims.bot_id = of_endpoint.bot_id
    )
    select bot_id, id, url, delivery_mode from taken;
  end if;
end
$$;

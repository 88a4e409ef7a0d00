import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase } from "../ad-database.ts";
import type { ClaimedDelivery } from "./claim-deliveries.ts";

const release = statement<never>(
  "deliveries.release",
  `with released as (
    update deliveries set state = $4, attempts = attempts - 1, lease_until = null,
      due_at = case $4 when 'held' then due_at else now() + make_interval(secs => $5) end
    from unnest($1::text[], $2::text[], $3::bigint[]) as released(bot_id, event_id, fence)
    where deliveries.bot_id = released.bot_id and deliveries.event_id = released.event_id
      and deliveries.fence = released.fence and lease_until is not null
    returning deliveries.bot_id
  ),
  ended as (select bot_id, count(*) as number from released group by bot_id order by bot_id)
  update endpoints set ended = endpoints.ended + number from ended where endpoints.bot_id = ended.bot_id`,
);

/** Releases claims for which nothing was sent: they consume no attempt. */
export async function releaseDeliveries(
  database: AdDatabase,
  claims: readonly Pick<ClaimedDelivery, "botId" | "eventId" | "fence">[],
  { to, delaySeconds = 0 }: { to: "waiting" | "held"; delaySeconds?: number },
): Promise<void> {
  if (claims.length === 0) return;
  await database.run(release, [
    claims.map(({ botId }) => botId),
    claims.map(({ eventId }) => eventId),
    claims.map(({ fence }) => fence),
    to,
    delaySeconds,
  ]);
}

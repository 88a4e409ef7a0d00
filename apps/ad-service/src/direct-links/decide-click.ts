import { encodeWebhookEvent } from "@intermission/ad-core/webhook-event";
import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase } from "../ad-database.ts";
import { addToCampaignDays } from "../campaigns/add-to-campaign-days.ts";
import { type RefundOutcome, refundCharge } from "../campaigns/refund-charge.ts";
import { enqueueWebhook } from "../webhook-delivery/enqueue-webhook.ts";

export type DecideClickOutcome =
  | { outcome: "released"; eventId: string }
  | { outcome: "refused" }
  | { outcome: "unknown-click" }
  | { outcome: "not-held"; state: string };

interface StoredClick {
  botId: string;
  code: string;
  userId: string;
  reference: string;
  state: string;
}

const find = statement<StoredClick>(
  "direct-links.find-click",
  `select clicks.bot_id as "botId", clicks.code, clicks.user_id as "userId", outcome as state,
     coalesce((select reference from codes where codes.bot_id = clicks.bot_id and codes.code = clicks.code), '') as reference
   from clicks where click_id = $1`,
);

// Two operators may decide at once: the update of the held row lets one of them through.
const release = statement<{ eventId: string }>(
  "direct-links.release-click",
  `with released as (
    update clicks set outcome = 'counted', decided_at = $2
    where click_id = $1 and outcome = 'held' and (
      select event_id from events where events.bot_id = clicks.bot_id and events.code = clicks.code
        and event = 'direct_link' limit 1
    ) is null
    returning bot_id, code, user_id, campaign_id
  ),
  earned as (
    select bot_id, $3::text as event_id, 'direct_link'::text as event, user_id, code, nullif($4::text, '') as reference,
      false as is_test, $2::timestamptz as occurred_at, $5::text as body
    from released
  ),
  ${enqueueWebhook({ from: "earned" })},
  charged as (
    insert into charges (charge_id, campaign_id, bot_id, user_id, format, code, price_micros, occurred_at)
    select event_id, campaign_id, bot_id, enqueued.user_id, 'direct_link', code, click_price_micros, occurred_at
    from enqueued join released using (bot_id, code) join campaigns using (campaign_id)
    returning campaign_id, format, price_micros, occurred_at
  ),
  summed as (${addToCampaignDays("charged")})
  select event_id as "eventId" from enqueued`,
);

const refuse = statement<{ code: string }>(
  "direct-links.refuse-held",
  `with refused as (
    update clicks set outcome = 'refused', decided_at = $2 where click_id = $1 and outcome = 'held'
    returning bot_id, code
  )
  insert into click_refusals (bot_id, code, reason, hour, count)
  select bot_id, code, 'operator', date_trunc('hour', $2::timestamptz, 'UTC'), 1 from refused
  on conflict (bot_id, code, reason, hour) do update set count = click_refusals.count + 1, is_summed = false
  returning code`,
);

/** Pays a held click: its event is made now, like any other. It used up its viewer's turn when it came. Then call `deliveries.wake()`. */
export async function releaseClick(
  database: AdDatabase,
  { clickId, eventId, now }: { clickId: string; eventId: string; now: Date },
): Promise<DecideClickOutcome> {
  const [click] = await database.run(find, [clickId]);
  if (!click) return { outcome: "unknown-click" };
  const body = encodeWebhookEvent({
    event: "direct_link",
    event_id: eventId,
    bot_id: click.botId,
    user_tg_id: click.userId,
    code: click.code,
    ...(click.reference !== "" && { reference: click.reference }),
    occurred_at: now.toISOString(),
  });
  const made = await database.run(release, [clickId, now, eventId, click.reference, body]);
  if (made.length === 0) return notHeld(database, clickId);
  return { outcome: "released", eventId };
}

/** Refuses a held click for good. */
export async function refuseClick(
  database: AdDatabase,
  { clickId, now }: { clickId: string; now: Date },
): Promise<DecideClickOutcome> {
  const refused = await database.run(refuse, [clickId, now]);
  return refused.length === 0 ? notHeld(database, clickId) : { outcome: "refused" };
}

/** Gives the advertiser back what a counted click cost. */
export async function refundClick(
  database: AdDatabase,
  { clickId, now }: { clickId: string; now: Date },
): Promise<RefundOutcome | { outcome: "unknown-click" }> {
  const [click] = await database.run(find, [clickId]);
  if (!click) return { outcome: "unknown-click" };
  if (click.state !== "counted") return { outcome: "not-charged" };
  return refundCharge(database, { botId: click.botId, code: click.code, format: "direct_link", now });
}

async function notHeld(database: AdDatabase, clickId: string): Promise<DecideClickOutcome> {
  const [click] = await database.run(find, [clickId]);
  return click ? { outcome: "not-held", state: click.state } : { outcome: "unknown-click" };
}

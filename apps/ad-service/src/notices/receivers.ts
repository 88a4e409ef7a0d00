import type { NoticeChannel, NoticeHealth } from "@intermission/operator-api/notices";
import { type Author, audit, openChange } from "@intermission/postgres/audit";
import { type Database, statement } from "@intermission/postgres/open-database";

/** An address that is sent notices of a bot's endpoint. */
interface NoticeReceiver {
  channel: NoticeChannel;
  address: string;
  /** The last health that a notice was made of. */
  health: NoticeHealth;
  lastSentAt: Date | null;
  /** Of the notice that waits to be sent; null: none waits. */
  dueAt: Date | null;
  attempts: number;
  /** Why its last attempt failed; null after a success. */
  lastError: string | null;
}

const list = statement<NoticeReceiver>(
  "notices.receivers",
  `select channel, address, notice_receivers.health, last_sent_at as "lastSentAt", due_at as "dueAt",
    coalesce(attempts, 0) as attempts, last_error as "lastError"
  from notice_receivers left join notices using (bot_id, channel) where bot_id = $1 order by channel`,
);

export async function listNoticeReceivers(database: Pick<Database, "run">, botId: string): Promise<NoticeReceiver[]> {
  return database.run(list, [botId]);
}

/** An address for each channel: null removes it, undefined leaves it unchanged. */
export type NoticeAddresses = { [Channel in NoticeChannel]?: string | null | undefined };

type SetNoticesOutcome =
  | { outcome: "set"; receivers: NoticeReceiver[] }
  /** A receiver of events would take notices for events. */
  | { outcome: "webhook-of-events" };

const findEndpoint = statement<{ url: string }>("notices.endpoint", "select url from endpoints where bot_id = $1");
const remove = statement<{ channel: string }>(
  "notices.remove-receiver",
  `with waiting as (delete from notices where bot_id = $1 and channel = $2)
  delete from notice_receivers where bot_id = $1 and channel = $2 returning channel`,
);
// A new address is not sent the notice that waits for the old one.
const set = statement<{ channel: string }>(
  "notices.set-receiver",
  `insert into notice_receivers (bot_id, channel, address) values ($1, $2, $3)
  on conflict (bot_id, channel) do update set address = excluded.address, last_error = null, last_sent_at = null
    where notice_receivers.address <> excluded.address
  returning channel`,
);

/** Sets the addresses that are sent notices of a bot's endpoint, at most one for each channel. */
export async function setNoticeReceivers(
  database: Database,
  { botId, addresses, author }: { botId: string; addresses: NoticeAddresses; author?: Author | undefined },
): Promise<SetNoticesOutcome> {
  return database.transaction<SetNoticesOutcome>(async (tx) => {
    const change = await openChange(tx, author, botId);
    const [endpoint] = await tx.run(findEndpoint, [botId]);
    if (endpoint && addresses.webhook === endpoint.url) return { outcome: "webhook-of-events" };
    const changed: { channel: string }[] = [];
    for (const [channel, address] of Object.entries(addresses).toSorted()) {
      if (address === null) changed.push(...(await tx.run(remove, [botId, channel])));
      else if (address !== undefined) changed.push(...(await tx.run(set, [botId, channel, address])));
    }
    if (changed.length > 0) await audit(tx, change);
    return { outcome: "set", receivers: await listNoticeReceivers(tx, botId) };
  });
}

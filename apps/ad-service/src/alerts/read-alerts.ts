import type { Alert } from "@intermission/operator-api/alerts";
import { type Database, statement } from "@intermission/postgres/open-database";

const list = statement<Alert>(
  "alerts.list",
  `select alert_id::text as "alertId", cause, object_id as "objectId", facts, made_at as "madeAt", read_at as "readAt"
   from alerts where person_id = $1 and alert_id < coalesce($2::bigint, 9223372036854775807) order by alert_id desc limit $3`,
);
const countUnread = statement<{ unread: number }>(
  "alerts.count-unread",
  "select count(*)::int as unread from alerts where person_id = $1 and read_at is null",
);
const mark = statement<never>(
  "alerts.mark-read",
  "update alerts set read_at = $3 where person_id = $1 and read_at is null and alert_id <= $2::bigint",
);

/** What a person was told, the latest first. */
export function listAlerts(
  database: Pick<Database, "run">,
  { personId, after, limit }: { personId: string; after?: string | undefined; limit: number },
): Promise<Alert[]> {
  return database.run(list, [personId, after, limit]);
}

export async function unreadAlerts(database: Pick<Database, "run">, personId: string): Promise<number> {
  return (await database.run(countUnread, [personId]))[0]?.unread ?? 0;
}

/** Up to an alert, and with it: what came meanwhile stays unread. */
export async function markAlertsRead(
  database: Pick<Database, "run">,
  { personId, upTo, now }: { personId: string; upTo: string; now: Date },
): Promise<void> {
  await database.run(mark, [personId, upTo, now]);
}

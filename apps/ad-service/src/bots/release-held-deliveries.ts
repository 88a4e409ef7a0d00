import { statement } from "@intermission/postgres/open-database";
import type { AdTransaction } from "../ad-database.ts";

const release = statement<{ event_id: string }>(
  "bots.release-held-deliveries",
  `update deliveries set state = 'waiting', due_at = now()
   where bot_id = $1 and state = 'held'
     and exists (select from bots where bots.bot_id = $1 and webhook_url is not null)
   returning event_id`,
);

/** Events wait while their bot has no address or no token. True where some are due now. */
export async function releaseHeldDeliveries(tx: AdTransaction, botId: string): Promise<boolean> {
  return (await tx.run(release, [botId])).length > 0;
}

import { sql } from "kysely";
import type { AdTransaction } from "../ad-database.ts";
import { pendingEndpoint } from "./pending-endpoint.ts";

/**
 * Sets the address of a bot's webhooks. A new or changed address is `pending` until it passes a test; setting the same
 * address again changes nothing. Null removes the endpoint: unsent events are held until there is one.
 */
export async function setEndpoint(tx: AdTransaction, botId: string, url: string | null): Promise<void> {
  if (url === null) {
    await tx.query.deleteFrom("endpoints").where("bot_id", "=", botId).execute();
    return;
  }
  const fresh = { ...pendingEndpoint, url, state_since: sql<Date>`now()`, test_due_at: sql<Date>`now()` };
  await tx.query
    .insertInto("endpoints")
    .values({ bot_id: botId, ...fresh })
    // Deliveries under way finish unchanged: their count is kept, so that the limit applies during the change.
    .onConflict((conflict) =>
      conflict.column("bot_id").doUpdateSet(fresh).whereRef("endpoints.url", "<>", "excluded.url"),
    )
    .execute();
  await tx.query
    .insertInto("endpoint_claims")
    .values({ bot_id: botId })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

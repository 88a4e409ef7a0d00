import { sql } from "kysely";
import type { AdTransaction } from "../ad-database.ts";
import { pendingEndpoint } from "./pending-endpoint.ts";

/**
 * Where a bot's webhooks go. An address that is new or another one is `pending` until it answers a test; the same address
 * again changes nothing. Null takes the endpoint away: what is not sent yet is held until there is one.
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
    // Claims under way end as they began: their count stays, so that the limit holds through the change.
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

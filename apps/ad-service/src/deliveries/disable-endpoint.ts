import { statement } from "@intermission/postgres/open-database";
import { sql } from "kysely";
import type { AdDatabase } from "../ad-database.ts";
import { lockEndpoint, type MissingEndpoint } from "./lock-endpoint.ts";
import type { DisabledReason } from "./schema.ts";

export type DisableEndpointOutcome =
  | { outcome: "disabled" }
  | { outcome: "already-disabled"; reason: DisabledReason | null }
  | MissingEndpoint;

/** Held immediately; the sweep holds the rest. */
const MOST_HELD = 1000;

const hold = statement<never>(
  "endpoints.hold-waiting",
  `with waiting as (
    select bot_id, event_id from deliveries where bot_id = $1 and state = 'waiting'
    order by due_at limit ${MOST_HELD} for update skip locked
  )
  update deliveries set state = 'held'
  from waiting where deliveries.bot_id = waiting.bot_id and deliveries.event_id = waiting.event_id`,
);

/** Stops sending to an endpoint until it is enabled again. Attempts in flight end normally. */
export async function disableEndpoint(
  database: AdDatabase,
  { botId }: { botId: string },
): Promise<DisableEndpointOutcome> {
  return database.transaction<DisableEndpointOutcome>(async (tx) => {
    const found = await lockEndpoint(tx, botId);
    if (found.outcome !== "locked") return found;
    if (found.state === "disabled") return { outcome: "already-disabled", reason: found.disabledReason };
    await tx.query
      .updateTable("endpoints")
      .set({ state: "disabled", state_since: sql<Date>`now()`, disabled_reason: "operator" })
      .where("bot_id", "=", botId)
      .execute();
    await tx.run(hold, [botId]);
    return { outcome: "disabled" };
  });
}

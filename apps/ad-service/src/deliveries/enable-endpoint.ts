import { statement } from "@intermission/postgres/open-database";
import { sql } from "kysely";
import type { AdDatabase } from "../ad-database.ts";
import { pendingEndpoint } from "../bots/pending-endpoint.ts";
import type { Deliveries } from "./deliveries.ts";
import { lockEndpoint, type MissingEndpoint } from "./lock-endpoint.ts";

export type EnableEndpointOutcome =
  /** `pending`: a test is due now, and held events are sent once it is answered 2xx. */
  { outcome: "enabled"; state: "pending" | "active" } | { outcome: "already-active" } | MissingEndpoint;

/** Released immediately; the sweep releases the rest. */
const MOST_RELEASED = 1000;

const release = statement<never>(
  "endpoints.release-held",
  `with held as (
    select bot_id, event_id from deliveries where bot_id = $1 and state = 'held'
    order by event_id limit ${MOST_RELEASED} for update skip locked
  )
  update deliveries set state = 'waiting', due_at = now()
  from held where deliveries.bot_id = held.bot_id and deliveries.event_id = held.event_id`,
);

/** Enables an endpoint and resets its health. `skipTest` makes it active without a test. */
export async function enableEndpoint(
  { database, deliveries }: { database: AdDatabase; deliveries: Deliveries },
  { botId, skipTest = false }: { botId: string; skipTest?: boolean },
): Promise<EnableEndpointOutcome> {
  const outcome = await database.transaction<EnableEndpointOutcome>(async (tx) => {
    const found = await lockEndpoint(tx, botId);
    if (found.outcome !== "locked") return found;
    if (found.state === "active") return { outcome: "already-active" };
    const state = skipTest ? "active" : "pending";
    const times = { state_since: sql<Date>`now()`, test_due_at: sql<Date>`now()` };
    await tx.query
      .updateTable("endpoints")
      .set({ ...pendingEndpoint, ...times, state })
      .where("bot_id", "=", botId)
      .execute();
    if (skipTest) await tx.run(release, [botId]);
    return { outcome: "enabled", state };
  });
  if (outcome.outcome === "enabled") deliveries.wake();
  return outcome;
}

import type { AdDatabase } from "../ad-database.ts";
import type { Deliveries } from "./deliveries.ts";
import { lockEndpoint, type MissingEndpoint } from "./lock-endpoint.ts";

export type LimitEndpointOutcome = { outcome: "limited" } | MissingEndpoint;

/** Sets how many deliveries to an endpoint may be in flight at the same time, over all nodes; 1 to 40. */
export async function limitEndpoint(
  { database, deliveries }: { database: AdDatabase; deliveries: Deliveries },
  { botId, maxInFlight }: { botId: string; maxInFlight: number },
): Promise<LimitEndpointOutcome> {
  const outcome = await database.transaction<LimitEndpointOutcome>(async (tx) => {
    const found = await lockEndpoint(tx, botId);
    if (found.outcome !== "locked") return found;
    await tx.query.updateTable("endpoints").set({ max_in_flight: maxInFlight }).where("bot_id", "=", botId).execute();
    return { outcome: "limited" };
  });
  deliveries.wake();
  return outcome;
}

import type { AdTransaction } from "../ad-database.ts";
import type { DisabledReason, EndpointState } from "./schema.ts";

export type MissingEndpoint = { outcome: "unknown-bot" | "no-endpoint" };

/** Reads an endpoint and locks its row until the transaction ends. */
export async function lockEndpoint(
  tx: AdTransaction,
  botId: string,
): Promise<{ outcome: "locked"; state: EndpointState; disabledReason: DisabledReason | null } | MissingEndpoint> {
  const bot = await tx.query.selectFrom("bots").select("bot_id").where("bot_id", "=", botId).executeTakeFirst();
  if (!bot) return { outcome: "unknown-bot" };
  const row = await tx.query
    .selectFrom("endpoints")
    .select(["state", "disabled_reason"])
    .where("bot_id", "=", botId)
    .forUpdate()
    .executeTakeFirst();
  if (!row) return { outcome: "no-endpoint" };
  return { outcome: "locked", state: row.state, disabledReason: row.disabled_reason };
}

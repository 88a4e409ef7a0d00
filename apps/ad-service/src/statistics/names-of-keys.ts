import type { AdDatabase } from "../ad-database.ts";
import type { Dimension } from "./read-statistics.ts";

/** The operator's names of the bots or campaigns with these ids. */
export async function namesOfKeys(
  database: AdDatabase,
  by: Dimension,
  keys: readonly string[],
): Promise<Map<string, string>> {
  if (keys.length === 0 || (by !== "bot" && by !== "campaign")) return new Map();
  const rows =
    by === "bot"
      ? await database.query.selectFrom("bots").select(["bot_id as key", "name"]).where("bot_id", "in", keys).execute()
      : await database.query
          .selectFrom("campaigns")
          .select(["campaign_id as key", "name"])
          .where("campaign_id", "in", keys)
          .execute();
  return new Map(rows.map(({ key, name }) => [key, name]));
}

import { statement } from "@intermission/postgres/open-database";
import type { AdTransaction } from "../ad-database.ts";
import type { VastAd } from "./vast-ad.ts";

interface SessionOfBot {
  botId: string;
  sessionId: string;
}

const read = statement<{ ad: VastAd }>("vast.read-ad", "select ad from vast_ads where bot_id = $1 and session_id = $2");

/** The ad that a tag returned when the session began; the session keeps it, however often it is reopened. */
export async function readVastAd(database: AdTransaction, { botId, sessionId }: SessionOfBot): Promise<VastAd> {
  const [found] = await database.run(read, [botId, sessionId]);
  if (!found) throw new Error(`session ${sessionId} has no VAST ad`);
  return found.ad;
}

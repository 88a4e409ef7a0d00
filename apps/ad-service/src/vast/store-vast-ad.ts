import { statement } from "@intermission/postgres/open-database";
import type { AdTransaction } from "../ad-database.ts";
import type { VastAd } from "./vast-ad.ts";

interface SessionOfBot {
  botId: string;
  sessionId: string;
}

const insert = statement<never>("vast.store-ad", "insert into vast_ads (bot_id, session_id, ad) values ($1, $2, $3)");
const read = statement<{ ad: VastAd }>("vast.read-ad", "select ad from vast_ads where bot_id = $1 and session_id = $2");

/** What a tag brought stays what the session shows, however often it is opened again. */
export async function storeVastAd(tx: AdTransaction, { botId, sessionId }: SessionOfBot, ad: VastAd): Promise<void> {
  await tx.run(insert, [botId, sessionId, JSON.stringify(ad)]);
}

export async function readVastAd(database: AdTransaction, { botId, sessionId }: SessionOfBot): Promise<VastAd> {
  const [found] = await database.run(read, [botId, sessionId]);
  if (!found) throw new Error(`session ${sessionId} has no VAST ad`);
  return found.ad;
}

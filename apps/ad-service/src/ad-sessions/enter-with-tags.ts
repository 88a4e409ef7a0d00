import type { AdDatabase } from "../ad-database.ts";
import type { FillFromTag } from "../vast/fill-from-tag.ts";
import { type EnterSessionInput, type EnterSessionOutcome, enterSession } from "./enter-session.ts";

/** For all tags of one opening together: a viewer waits for it. */
const TOTAL_MS = 5000;
const MOST_TAGS = 3;
/** Beyond the tags that were asked, others may be resting. */
const MOST_TRIES = 10;

export type EnterWithTagsOutcome = Exclude<EnterSessionOutcome, { outcome: "tag-wanted" }>;

/** Enters; where a VAST tag is chosen, it is asked, and if it brings nothing, another ad is chosen without it. */
export async function enterWithTags(
  { database, fillFromTag }: { database: AdDatabase; fillFromTag: FillFromTag },
  { userAgent = "", ...input }: EnterSessionInput & { userAgent: string | undefined },
): Promise<EnterWithTagsOutcome> {
  const endsAt = performance.now() + TOTAL_MS;
  const { botId } = input.code;
  const without = new Set<string>();
  let fromTag: EnterSessionInput["fromTag"];
  for (let attempt = 1; attempt <= MOST_TRIES; attempt++) {
    const entered = await enterSession(database, { ...input, wish: { ...input.wish, without }, fromTag });
    if (entered.outcome !== "tag-wanted") return entered;
    const { campaignId, creativeId, url } = entered;
    const totalMs = endsAt - performance.now();
    const mayAsk = totalMs > 0 && without.size < MOST_TAGS;
    const { sessionId, device } = input;
    const call = { botId, creativeId, url, sessionId, userAgent, device, totalMs };
    const vastAd = mayAsk ? await fillFromTag(call) : undefined;
    if (vastAd) fromTag = { campaignId, creativeId, vastAd };
    else without.add(creativeId);
  }
  return { outcome: "no-ad", reason: "none-fits" };
}

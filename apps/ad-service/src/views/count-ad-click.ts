import { newClickId } from "@intermission/ad-core/code";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import { randomBytes } from "@intermission/server/random-bytes";
import { landingAddress } from "../campaigns/campaign-settings.ts";
import { fillMacros } from "../vast/fill-macros.ts";
import { enqueueTrackerCalls, readVastAd } from "../vast/trackers.ts";
import { type AdRows, findAd } from "./find-ad.ts";
import { type AdView, isClickKey, lockView, readSession } from "./session.ts";

export interface AdClick {
  botId: string;
  viewId: string;
  key: string;
  /** On the end card's picture or its call to action, where the picture has a landing page of its own. */
  isOnEndCard: boolean;
  /** A preview or a prefetch is redirected but not counted. */
  isMachine: boolean;
  now: Date;
}

export type AdClickOutcome = { outcome: "landed"; url: string; isCounted: boolean } | { outcome: "unknown" };

const insert = statement<never>(
  "ad-clicks.insert",
  `insert into cta_clicks (bot_id, view_id, click_id, user_id, campaign_id, creative_id, occurred_at)
   values ($1, $2, $3, $4, $5, $6, $7)`,
);
const read = statement<{ clickId: string }>(
  "ad-clicks.read",
  `select click_id as "clickId" from cta_clicks where bot_id = $1 and view_id = $2`,
);

/**
 * Redirects from a video's or an end card's call to action to its landing page. Counts the first click of a session that
 * began to play.
 */
export async function countAdClick(
  { database, ads }: { database: Database; ads: AdRows },
  click: AdClick,
): Promise<AdClickOutcome> {
  const opened = await readSession(database, click);
  if (!opened) return { outcome: "unknown" };
  // Read before the transaction, which holds its connection and the session's lock.
  const vastAd = opened.isVast ? await readVastAd(database, opened) : undefined;
  const ad = await findAd(ads, opened, { vastAd });
  const landingUrl = click.isOnEndCard ? ad.endCard?.landingUrl : ad.landingUrl;
  if (!landingUrl) return { outcome: "unknown" };
  return database.transaction(async (tx) => {
    // The session's lock makes two concurrent clicks one.
    const session = await lockView(tx, click);
    if (!session) return { outcome: "unknown" };
    const [earlier] = await tx.run(read, [session.botId, session.viewId]);
    const clickId = earlier?.clickId ?? newClickId(click.now.getTime(), randomBytes(10));
    const isCounted = !earlier && isCountable(session, click);
    if (isCounted) await count(tx, session, clickId, click);
    return { outcome: "landed", isCounted, url: landingOf(landingUrl, session, { clickId, now: click.now }) };
  });
}

function isCountable(session: AdView, { isMachine, key }: AdClick): boolean {
  return !isMachine && session.startedAt !== null && !session.isTest && isClickKey(key, session);
}

async function count(tx: Transaction, session: AdView, clickId: string, { isOnEndCard, now }: AdClick) {
  const { botId, viewId, userId, campaignId, creativeId, acceptedMs: playheadMs } = session;
  await tx.run(insert, [botId, viewId, clickId, userId, campaignId, creativeId, now]);
  if (!session.isVast) return;
  await enqueueTrackerCalls(tx, session, {
    events: [isOnEndCard ? "companionClick" : "click"],
    playheadMs,
    clickId,
    now,
  });
}

function landingOf(landingUrl: string, session: AdView, { clickId, now }: { clickId: string; now: Date }): string {
  const { botId, viewId, code, campaignId, creativeId } = session;
  const filled = session.isVast ? fillMacros(landingUrl, { now, chance: Math.random(), viewId, clickId }) : landingUrl;
  return landingAddress(filled, {
    click_id: clickId,
    code,
    bot_id: botId,
    campaign_id: campaignId,
    creative_id: creativeId,
  });
}

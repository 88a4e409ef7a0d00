import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import { enqueueTrackerCalls, readVastAd } from "../vast/trackers.ts";
import { type AdView, lockView, readView } from "./ad-view.ts";
import { type AdRows, findAd } from "./find-ad.ts";
import { clickIdOf, landingPage } from "./landing-page.ts";
import { isClickKey } from "./session-token.ts";

interface AdClick {
  botId: string;
  viewId: string;
  key: string;
  /** On the end card's picture or its call to action, where the picture has a landing page of its own. */
  isOnEndCard: boolean;
  /** A preview or a prefetch is redirected but not counted. */
  isMachine: boolean;
  now: Date;
}

type AdClickOutcome = { outcome: "landed"; url: string; isCounted: boolean } | { outcome: "unknown" };

const insert = statement<never>(
  "ad-clicks.insert",
  `insert into cta_clicks (bot_id, view_id, click_id, user_id, campaign_id, creative_id, audience, occurred_at, opened_at)
   select bot_id, view_id, $3, user_id, campaign_id, creative_id, audience, $4, $5 from views
   where bot_id = $1 and view_id = $2 and code = $6`,
);
const read = statement<{ occurredAt: Date }>(
  "ad-clicks.read",
  `select occurred_at as "occurredAt" from cta_clicks where bot_id = $1 and view_id = $2 and opened_at = $3`,
);

/** The landing page of a video's or an end card's call to action. Counts the first click of a view that began to play. */
export async function countAdClick(
  { database, ads }: { database: Database; ads: AdRows },
  click: AdClick,
): Promise<AdClickOutcome> {
  const opened = await readView(database, click);
  if (!opened) return { outcome: "unknown" };
  // Read before the transaction, which holds its connection and the view's lock.
  const vastAd = opened.isVast ? await readVastAd(database, opened) : undefined;
  if (opened.isVast && !vastAd) return { outcome: "unknown" };
  const ad = await findAd(ads, opened, { vastAd });
  const landingUrl = click.isOnEndCard ? ad.endCard?.landingUrl : ad.landingUrl;
  if (!landingUrl) return { outcome: "unknown" };
  return database.transaction(async (tx) => {
    // The view's lock makes two concurrent clicks one.
    const view = await lockView(tx, click);
    if (!view) return { outcome: "unknown" };
    const [earlier] = await tx.run(read, [view.botId, view.viewId, view.openedAt]);
    const isCounted = !earlier && isCountable(view, click);
    if (isCounted) await count(tx, view, click);
    return { outcome: "landed", isCounted, url: landingPage(landingUrl, view, { now: click.now, erid: ad.erid }) };
  });
}

function isCountable(view: AdView, { isMachine, key }: AdClick): boolean {
  return !isMachine && view.startedAt !== null && !view.isTest && isClickKey(key, view);
}

async function count(tx: Transaction, view: AdView, { isOnEndCard, now }: AdClick) {
  const { botId, viewId, code, openedAt, acceptedMs: playheadMs } = view;
  const clickId = clickIdOf(view);
  await tx.run(insert, [botId, viewId, clickId, now, openedAt, code]);
  if (!view.isVast) return;
  await enqueueTrackerCalls(tx, view, {
    events: [isOnEndCard ? "companionClick" : "click"],
    playheadMs,
    clickId,
    now,
  });
}

import { statement, type Transaction } from "@intermission/postgres/open-database";
import { rowParameters } from "@intermission/postgres/row-parameters";
import { selectUnfinishedViews } from "../ad-selection/select-ad.ts";
import { type Charge, selectTerms } from "../campaigns/event-worth.ts";
import { boundsAt, boundsIn } from "../codes/code-bounds.ts";
import type { ViewerEarnings, ViewerInterstitials, ViewerLimitSettings } from "../viewers/limit-of-viewer.ts";
import type { ViewerFacts } from "./settle-view.ts";
import type { ViewChange } from "./view-change.ts";

const factRows = rowParameters({
  position: "integer",
  bot_id: "text",
  view_id: "text",
  version: "integer",
  user_id: "text",
  code: "text",
  is_start: "boolean",
  is_earned: "boolean",
  now: "timestamptz",
});

const behind = factRows.parameters.length;
const bounds = boundsIn(`$${behind + 1}`, `$${behind + 2}`);

type FactRow = ViewerEarnings &
  ViewerInterstitials &
  ViewerLimitSettings &
  Charge &
  Pick<
    ViewerFacts,
    "decisions" | "clockHolderId" | "creditedUntil" | "isBotSuspended" | "sendsInterstitials" | "sendsClientNotes"
  > & {
    position: number;
    unfinished: number | null;
    lastActiveAt: Date | null;
    firstDeadline: Date | null;
  };

const readFacts = statement<FactRow>(
  "views.read-viewers",
  `select changes.position, v.decisions, v.clock_view_id as "clockHolderId", v.credited_until as "creditedUntil",
     v.day::text, v.earned_today as "earnedToday", v.last_earned_at as "lastEarnedAt",
     bots.cooldown_seconds as "cooldownSeconds", bots.daily_cap as "dailyCap", bots.is_suspended as "isBotSuspended",
     v.last_interstitial_at as "lastInterstitialAt", bots.interstitial_seconds as "interstitialSeconds",
     bots.sends_interstitials as "sendsInterstitials", bots.sends_client_notes as "sendsClientNotes",
     coalesce(view.price_micros, ad.price) as "priceMicros", bots.include_revenue as "includeRevenue", ${selectTerms},
     unfinished.count::integer as unfinished, unfinished."lastActiveAt", unfinished."firstDeadline"
   from (${factRows.table}) as changes
   cross join lateral (
     select version, campaign_id, price_micros from views s
     where s.bot_id = changes.bot_id and s.view_id = changes.view_id and s.code = changes.code limit 1
   ) as view
   cross join lateral (
     select * from viewers where viewers.bot_id = changes.bot_id and viewers.user_id = changes.user_id limit 1
   ) as v
   cross join lateral (select * from bots where bots.bot_id = changes.bot_id limit 1) as bots
   left join lateral (
     select view_price_micros as price from campaigns where campaigns.campaign_id = view.campaign_id limit 1
   ) as ad on is_earned
   left join lateral (
     ${selectUnfinishedViews({ botId: "changes.bot_id", userId: "changes.user_id", code: "changes.code", now: "changes.now", ...bounds })}
   ) as unfinished on is_start
   where view.version = changes.version`,
);

/**
 * Reads the facts of starts and ends. Other changes have none, nor have views that changed since they were read. Nothing is
 * locked: the write compares the versions.
 */
export async function readViewers(
  database: Transaction,
  changes: readonly ViewChange[],
): Promise<(ViewerFacts | undefined)[]> {
  const facts = changes.map((): ViewerFacts | undefined => undefined);
  const queries = changes.flatMap(({ before, isStart, ending, charge, now }, position) => {
    const isEarned = ending !== undefined || charge !== undefined;
    return isStart || isEarned ? [rowOf(before, { position, is_start: isStart, is_earned: isEarned, now })] : [];
  });
  if (queries.length === 0) return facts;
  const values = [...factRows.values(queries), ...boundsAt(queries.map(({ now }) => now))];
  const rows = await database.run(readFacts, values);
  for (const { position, unfinished, lastActiveAt, firstDeadline, ...viewer } of rows) {
    facts[position] = { ...viewer, unfinished: { count: unfinished ?? 0, lastActiveAt, firstDeadline } };
  }
  return facts;
}

function rowOf<Query>({ botId, viewId, version, userId, code }: ViewChange["before"], query: Query) {
  return { bot_id: botId, view_id: viewId, version, user_id: userId, code, ...query };
}

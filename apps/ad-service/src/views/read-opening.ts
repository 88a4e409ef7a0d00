import type { ViewFormat } from "@intermission/operator-api/campaign-words";
import { statement, type Transaction } from "@intermission/postgres/open-database";
import { rowParameters } from "@intermission/postgres/row-parameters";
import { seenByUser, selectUnfinishedViews } from "../ad-selection/select-ad.ts";
import { boundsAt, boundsIn } from "../codes/code-bounds.ts";
import type { VastAd } from "../vast/vast-ad.ts";
import {
  limitOfInterstitials,
  limitOfViewer,
  type ViewerEarnings,
  type ViewerInterstitials,
  type ViewerLimit,
  type ViewerLimitSettings,
} from "../viewers/limit-of-viewer.ts";
import { type AdView, clockHolder, latest, type ViewRow, viewColumns, viewOf, viewRowIn } from "./ad-view.ts";

export interface OpeningQuestion {
  botId: string;
  userId: string;
  /** The code that the app was opened with; undefined: the code of the view that the user left last, or else one still open. */
  code: string | undefined;
  /** The launch data is too old to begin a view: any view of the user before its deadline may continue. */
  mustContinue: boolean;
  /** An interstitial continues none, and has a code of its own. */
  format: ViewFormat;
  /** Since when to read what the user saw; undefined if no campaign has a user cap. */
  seenSince: Date | undefined;
  now: Date;
}

/** The facts for the decision about an opening. */
export interface Opening {
  /** Undefined: the bot has no such code; or, if none was requested, the user has none that could earn. */
  code: OpeningCode | undefined;
  /** The code's view, if it has begun. */
  view: AdView | undefined;
  vastAd: VastAd | undefined;
  /** The viewer's state, null without a row. It is compared when a view begins. */
  viewer: { decisions: number | null } & Pick<
    AdView,
    "creditedUntil" | "clockHolderId" | "clockHolderVersion" | "viewerCreditedUntil"
  >;
  /** The limit that prevents the viewer from beginning a view. */
  limit: ViewerLimit;
  seen: Map<string, Date[]>;
}

export interface OpeningCode {
  botId: string;
  code: string;
  userId: string;
  reference: string;
  /** The channel or group that a view lets the user into. */
  joinTitle: string | null;
  expiresAt: Date;
  isRewarded: boolean;
  /** Its link was followed, and the click is paid or held. */
  isFollowed: boolean;
}

interface Row extends ViewRow, ViewerEarnings, ViewerLimitSettings, ViewerInterstitials {
  position: number;
  codeUserId: string | null;
  codeText: string;
  codeReference: string;
  codeJoinTitle: string | null;
  codeExpiresAt: Date;
  isRewarded: boolean;
  isFollowed: boolean;
  vastAd: VastAd | null;
  viewerDecisions: number | null;
  unfinished: number;
  lastActiveAt: Date | null;
  firstDeadline: Date | null;
  seen: { campaignId: string; at: string }[] | null;
}

const requestedRows = rowParameters({
  position: "integer",
  bot_id: "text",
  user_id: "text",
  code: "text",
  must_continue: "boolean",
  format: "text",
  seen_since: "timestamptz",
  now: "timestamptz",
});

const behind = requestedRows.parameters.length;
const bounds = boundsIn(`$${behind + 1}`, `$${behind + 2}`);

/**
 * Of the opening's own format: an interstitial that was left pays no reward. A code lives at most 24 h and a view only minutes
 * longer than its code, which bounds the index range.
 */
const ofUser = `from views
      where views.bot_id = requested.bot_id and views.user_id = requested.user_id and format = requested.format
        and views.code between ${bounds.first} and ${bounds.last}
        and opened_at > requested.now - interval '25 hours' and deadline > requested.now`;

/** The view that was left last. */
const unfinishedCode = `select code ${ofUser} and state in ('playing', 'watched')
      order by coalesce(last_report_at, started_at) desc limit 1`;
/** What an app that was left open shows: the view left last, or else the latest offer or paid view. */
const continuableCode = `select code ${ofUser}
      order by state in ('playing', 'watched') desc, coalesce(last_report_at, started_at, opened_at) desc limit 1`;
/** A code with a view comes first, so that reopening continues the view. A code of a join is for its own launch only. */
const openCode = `select current_codes.code from current_codes left join lateral (
        select opened_at, deadline, format from views
        where views.bot_id = current_codes.bot_id and views.code = current_codes.code limit 1
      ) as own on true
      where current_codes.bot_id = requested.bot_id and current_codes.user_id = requested.user_id
        and not is_withheld and coalesce(own.format, requested.format) = requested.format
        and (expires_at > requested.now or own.deadline > requested.now)
        and (
          select event_id from events where events.bot_id = current_codes.bot_id and events.code = current_codes.code limit 1
        ) is null
        and (
          select join_title from codes where codes.bot_id = current_codes.bot_id and codes.code = current_codes.code limit 1
        ) is null
      order by own.opened_at desc nulls last, issued_at desc limit 1`;

const read = statement<Row>(
  "views.read-opening",
  `select requested.position, c.user_id as "codeUserId", c.code as "codeText", c.reference as "codeReference",
     c.join_title as "codeJoinTitle", c.expires_at as "codeExpiresAt", c.is_rewarded as "isRewarded",
     c.is_followed as "isFollowed", ${viewColumns},
     case when s.is_vast then (
       select ad from vast_ads
       where vast_ads.bot_id = s.bot_id and vast_ads.view_id = s.view_id and vast_ads.opened_at = s.opened_at limit 1
     ) end as "vastAd",
     v.decisions as "viewerDecisions",
     v.day::text, v.earned_today as "earnedToday", v.last_earned_at as "lastEarnedAt",
     v.last_interstitial_at as "lastInterstitialAt", bots.interstitial_seconds as "interstitialSeconds",
     bots.cooldown_seconds as "cooldownSeconds", bots.daily_cap as "dailyCap",
     unfinished.count::integer as unfinished, unfinished."lastActiveAt", unfinished."firstDeadline",
     case when requested.seen_since is not null then (${seenByUser({ botId: "requested.bot_id", userId: "requested.user_id", since: "requested.seen_since" })}) end as seen
   from (${requestedRows.table}) as requested
   cross join lateral (
     select case
       when requested.format = 'interstitial' then null
       when requested.code is not null then requested.code
       when requested.must_continue then (${continuableCode})
       else coalesce((${unfinishedCode}), (${openCode})) end as code offset 0
   ) as picked
   left join lateral (
     select *, (
       select event_id from events where events.bot_id = codes.bot_id and events.code = codes.code and event = 'rewarded' limit 1
     ) is not null as is_rewarded, coalesce((
       select event_id from events where events.bot_id = codes.bot_id and events.code = codes.code and event = 'direct_link' limit 1
     ), (
       select click_id from withheld_clicks
       where withheld_clicks.bot_id = codes.bot_id and withheld_clicks.code = codes.code and outcome = 'held' limit 1
     )) is not null as is_followed
     from codes where codes.bot_id = requested.bot_id and codes.code = picked.code limit 1
   ) as c on true
   left join lateral (
     select * from views where views.bot_id = requested.bot_id and views.code = picked.code limit 1
   ) as s on true
   left join lateral (
     select * from viewers where viewers.bot_id = requested.bot_id and viewers.user_id = requested.user_id limit 1
   ) as v on true
   ${clockHolder}
   cross join lateral (select * from bots where bots.bot_id = requested.bot_id limit 1) as bots
   cross join lateral (
     ${selectUnfinishedViews({ botId: "requested.bot_id", userId: "requested.user_id", code: "coalesce(picked.code, '')", now: "requested.now", ...bounds })}
   ) as unfinished`,
);

/** Reads the facts of openings, in their order. */
export async function readOpenings(database: Transaction, batch: readonly OpeningQuestion[]): Promise<Opening[]> {
  const openings: (Opening | undefined)[] = [];
  const values = [...requestedRows.values(batch.map(requestedRowOf)), ...boundsAt(batch.map(({ now }) => now))];
  for (const row of await database.run(read, values)) {
    const question = batch[row.position];
    if (question) openings[row.position] = openingOf(row, question);
  }
  return batch.map((_, index) => {
    const opening = openings[index];
    if (!opening) throw new Error("the bot disappeared while its app was opened");
    return opening;
  });
}

function requestedRowOf(question: OpeningQuestion, position: number) {
  const { botId, userId, code, mustContinue, format, seenSince, now } = question;
  const of = { bot_id: botId, user_id: userId, code, must_continue: mustContinue, format };
  return { position, ...of, seen_since: seenSince, now };
}

function openingOf(row: Row, question: OpeningQuestion): Opening {
  const seen = new Map<string, Date[]>();
  for (const { campaignId, at } of row.seen ?? []) {
    seen.set(campaignId, [...(seen.get(campaignId) ?? []), new Date(at)]);
  }
  return {
    code:
      row.codeUserId !== null
        ? {
            botId: question.botId,
            code: row.codeText,
            userId: row.codeUserId,
            reference: row.codeReference,
            joinTitle: row.codeJoinTitle,
            expiresAt: row.codeExpiresAt,
            isRewarded: row.isRewarded,
            isFollowed: row.isFollowed,
          }
        : undefined,
    // The view is remembered, so the other columns are dropped.
    view: row.viewId === null ? undefined : viewOf(viewRowIn(row)),
    vastAd: row.vastAd ?? undefined,
    viewer: {
      decisions: row.viewerDecisions,
      creditedUntil: latest(row.viewerCreditedUntil, row.holderCreditedUntil),
      clockHolderId: row.clockHolderId,
      clockHolderVersion: row.clockHolderVersion,
      viewerCreditedUntil: row.viewerCreditedUntil,
    },
    limit:
      question.format === "interstitial"
        ? limitOfInterstitials(row, question.now)
        : limitOfViewer(row, { ...row, count: row.unfinished }, row, question.now),
    seen,
  };
}

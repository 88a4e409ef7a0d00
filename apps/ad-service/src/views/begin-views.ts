import { inRounds } from "@intermission/postgres/group-commits";
import { statement, type Transaction } from "@intermission/postgres/open-database";
import { rowParameters } from "@intermission/postgres/row-parameters";
import { isKept } from "../codes/issue-code.ts";
import type { VastAd } from "../vast/vast-ad.ts";
import type { AdView } from "./ad-view.ts";
import type { Opening, OpeningCode } from "./read-opening.ts";

/** A view that is about to begin: offered, not started. */
export interface NewView {
  /** `issuedAt` is set if the code is issued together with the view. */
  code: Omit<OpeningCode, "joinTitle" | "isRewarded" | "isFollowed"> & { issuedAt?: Date };
  startParam: string | null;
  clientNote: string | null;
  /** Of a priced view, as Telegram signed it: the log of billed events has a hash of it. */
  initData: string | undefined;
  viewId: string;
  tokenHash: string;
  campaignId: string;
  creativeId: string;
  durationMs: number;
  vastAd: VastAd | undefined;
  terms: ViewTerms;
  /** Of a bought ad; null: its campaign's price at the end. */
  priceMicros: number | null;
  isTest: boolean;
  /** As text, see `audienceText`. */
  audience: string;
  failedCreatives: string[];
  /** A view of the same code whose video could not be played; the new view replaces it. */
  broken: AdView | undefined;
  /** The viewer's state when the ad was chosen. */
  viewer: Opening["viewer"];
  now: Date;
}

/** What a view is, and when an interstitial may be skipped and is charged. */
export type ViewTerms = Pick<AdView, "format" | "skipAfterMs" | "chargedAfterMs">;

/** A view that began in time may finish after its code expired. */
const GRACE_MS = 10 * 60_000;

const newViewRows = rowParameters({
  position: "integer",
  bot_id: "text",
  user_id: "text",
  code: "text",
  reference: "text",
  start_param: "text",
  client_note: "text",
  init_data: "text",
  view_id: "text",
  campaign_id: "text",
  creative_id: "text",
  is_vast: "boolean",
  is_test: "boolean",
  audience: "text",
  duration_ms: "integer",
  format: "text",
  skip_after_ms: "integer",
  charged_after_ms: "integer",
  opened_at: "timestamptz",
  deadline: "timestamptz",
  failed_creatives: "text[]",
  token_hash: "text",
  broken_view_id: "text",
  vast_ad: "jsonb",
  price_micros: "bigint",
  code_issued_at: "timestamptz",
  code_expires_at: "timestamptz",
  decisions: "bigint",
});

/** Columns of `new_views` that the row of the view takes as they are. */
const storedAsOpened = `bot_id, view_id, code, user_id, reference, start_param, client_note, campaign_id, creative_id,
      is_vast, is_test, audience, duration_ms, format, skip_after_ms, charged_after_ms, opened_at, deadline, failed_creatives, price_micros`;

/** What Telegram signed, for the log of billed events. */
const storeLaunches = `insert into view_launches (bot_id, view_id, code, user_id, opened_at, init_data)
    select bot_id, view_id, code, user_id, opened_at, init_data from begun where init_data is not null`;

/*
 * Begins views, no two of one viewer. The viewer's row is locked and compared with the state that the ad was chosen on: if the
 * viewer was offered another ad, began a view or earned since, nothing is written and the opening is read again.
 *
 * A viewer holds at most one offer that was not started, because the limits that an earlier offer passed may be stale.
 */
const begin = statement<{ position: number }>(
  "views.begin",
  `with new_views as materialized (${newViewRows.table}),
  offered as (
    insert into viewers (bot_id, user_id, day, earned_today, decisions)
    select bot_id, user_id, (opened_at at time zone 'utc')::date, 0, coalesce(decisions + 1, first_decision()) from new_views
    order by bot_id, user_id
    on conflict (bot_id, user_id) do update set decisions = excluded.decisions
    where viewers.decisions = excluded.decisions - 1
    returning bot_id, user_id
  ),
  issued as (
    insert into current_codes as kept (bot_id, user_id, reference, code, issued_at, expires_at)
    select bot_id, user_id, '', code, code_issued_at, code_expires_at from new_views
    where code_issued_at is not null and (bot_id, user_id) in (select bot_id, user_id from offered)
    order by bot_id, user_id
    on conflict (bot_id, user_id, reference) do update set
      code = excluded.code, issued_at = excluded.issued_at, expires_at = excluded.expires_at, is_withheld = false
    -- A concurrent request for a code may have issued one.
    where not (${isKept})
    returning bot_id, code
  ),
  begun as materialized (
    select * from new_views
    where (bot_id, user_id) in (select bot_id, user_id from offered)
      and (code_issued_at is null or (bot_id, code) in (select bot_id, code from issued))
  ),
  new_codes as (
    insert into codes (bot_id, code, user_id, reference, issued_at, expires_at)
    select bot_id, code, user_id, '', code_issued_at, code_expires_at from begun where code_issued_at is not null
  ),
  withdrawn as (
    delete from views s using begun
    where s.bot_id = begun.bot_id and s.user_id = begun.user_id and s.opened_at > begun.opened_at - interval '25 hours'
      and s.code between code_week_at(begun.opened_at - interval '3 days') and code_week_at(begun.opened_at + interval '1 minute') || '~'
      and (s.state = 'opened' or s.state = 'playing' and s.view_id = begun.broken_view_id)
    returning s.due_at, s.bot_id, s.view_id, s.opened_at, s.is_vast
  ),
  vast_ads_withdrawn as (
    delete from vast_ads using withdrawn
    where withdrawn.is_vast and vast_ads.bot_id = withdrawn.bot_id and vast_ads.view_id = withdrawn.view_id
      and vast_ads.opened_at = withdrawn.opened_at
  ),
  not_due as (
    delete from views_due using withdrawn
    where views_due.due_at = withdrawn.due_at and views_due.view_id = withdrawn.view_id
  ),
  stored as (
    insert into views (${storedAsOpened}, token_hash, state)
    select ${storedAsOpened}, decode(token_hash, 'hex'), 'opened'
    -- Always true: it only forces the delete first.
    from begun where (select count(*) from withdrawn) >= 0
  ),
  launches_stored as (${storeLaunches}),
  vast_ads_stored as (
    insert into vast_ads (bot_id, view_id, opened_at, ad) select bot_id, view_id, opened_at, vast_ad from begun where is_vast
  ),
  filled as (
    insert into ad_requests (bot_id, user_id, code, outcome, campaign_id, creative_id, audience, occurred_at)
    select bot_id, user_id, code, 'filled', campaign_id, creative_id, audience, opened_at from begun where not is_test
  )
  select position from begun`,
);

/** Begins views. Undefined: the viewer or the code changed meanwhile, and nothing was written. */
export async function beginViewsInRounds(
  database: Transaction,
  batch: readonly NewView[],
): Promise<(AdView | undefined)[]> {
  const begun = new Map<NewView, AdView | undefined>();
  const viewerOf = ({ code: { botId, userId } }: NewView) => `${botId} ${userId}`;
  for (const round of inRounds(batch, viewerOf)) {
    const stored = await beginViews(database, round);
    for (const [index, view] of round.entries()) begun.set(view, stored[index]);
  }
  return batch.map((view) => begun.get(view));
}

/** Begins views, no two of one viewer. Returns them as stored, in the same order; undefined for a view that did not begin. */
export async function beginViews(database: Transaction, views: readonly NewView[]): Promise<(AdView | undefined)[]> {
  const begun = views.map((): AdView | undefined => undefined);
  for (const { position } of await database.run(begin, newViewRows.values(views.map(newViewRowOf)))) {
    const view = views[position];
    if (view) begun[position] = viewOfNew(view);
  }
  return begun;
}

function newViewRowOf(view: NewView, position: number) {
  const { code, viewer, vastAd, now } = view;
  return {
    position,
    bot_id: code.botId,
    user_id: code.userId,
    code: code.code,
    reference: code.reference,
    start_param: view.startParam,
    client_note: view.clientNote,
    init_data: view.initData,
    view_id: view.viewId,
    campaign_id: view.campaignId,
    creative_id: view.creativeId,
    is_vast: vastAd !== undefined,
    is_test: view.isTest,
    audience: view.audience,
    duration_ms: view.durationMs,
    format: view.terms.format,
    skip_after_ms: view.terms.skipAfterMs,
    charged_after_ms: view.terms.chargedAfterMs,
    opened_at: now,
    deadline: deadlineOf(view),
    failed_creatives: view.failedCreatives,
    token_hash: view.tokenHash,
    broken_view_id: view.broken?.viewId,
    vast_ad: vastAd,
    price_micros: view.priceMicros,
    code_issued_at: code.issuedAt,
    code_expires_at: code.expiresAt,
    decisions: viewer.decisions,
  };
}

function deadlineOf({ code }: NewView): Date {
  return new Date(code.expiresAt.getTime() + GRACE_MS);
}

function viewOfNew(view: NewView): AdView {
  const { code, viewer, now } = view;
  return {
    botId: code.botId,
    viewId: view.viewId,
    code: code.code,
    userId: code.userId,
    reference: code.reference,
    startParam: view.startParam,
    clientNote: view.clientNote,
    campaignId: view.campaignId,
    creativeId: view.creativeId,
    isVast: view.vastAd !== undefined,
    isTest: view.isTest,
    ...view.terms,
    durationMs: view.durationMs,
    openedAt: now,
    deadline: deadlineOf(view),
    failedCreatives: view.failedCreatives,
    tokenHash: view.tokenHash,
    openings: 1,
    firstSequence: 0,
    fault: null,
    faultAt: null,
    version: 0,
    state: "opened",
    acceptedMs: 0,
    clockMs: 0,
    progress: { covered: [], sequences: [], refusals: {} },
    signals: null,
    startedAt: null,
    lastReportAt: null,
    watchedAt: null,
    chargedAt: null,
    closeRequestedAt: null,
    closeReason: null,
    pendingReports: null,
    dueAt: null,
    creditedUntil: viewer.creditedUntil,
    clockHolderId: viewer.clockHolderId,
    clockHolderVersion: viewer.clockHolderVersion,
    viewerCreditedUntil: viewer.viewerCreditedUntil,
  };
}

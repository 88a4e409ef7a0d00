import type { ViewState } from "@intermission/ad-core/client-api";
import type { ProgressReport, StatusResponse } from "@intermission/ad-core/player-api";
import type { PlaybackFault } from "@intermission/ad-core/wire-fields";
import type { ViewFormat } from "@intermission/operator-api/campaign-words";
import type { CloseReason } from "@intermission/operator-api/reviews";
import { statement, type Transaction } from "@intermission/postgres/open-database";
import { type ColumnsOf, selected } from "@intermission/postgres/row-columns";
import type { Progress, Range } from "./accept-progress.ts";
import { inWeekOfView } from "./view-ids.ts";
import { signalsOf, type ViewingSignals } from "./viewing-signals.ts";

/** Suspicious views are `held` until the operator decides, or `refused`. Both were watched and closed. */
export type StoredState = ViewState | "held" | "refused";

/** Held and refused views were watched: players that do not know `review` see only `watched`. */
export function stateForPlayer(state: StoredState): Pick<StatusResponse, "state" | "review"> {
  return state === "held" || state === "refused" ? { state: "watched", review: state } : { state };
}

/** A view as stored, with the viewer's columns that decide about its reports. */
export interface AdView {
  botId: string;
  viewId: string;
  code: string;
  userId: string;
  /** The publisher's own key of the code; "" if there is none. */
  reference: string;
  /** The publisher's own `startapp` value of the launch. */
  startParam: string | null;
  /** The page's note about the ad, unsigned. */
  clientNote: string | null;
  campaignId: string;
  creativeId: string;
  /** Its ad came from a VAST tag, so trackers are called. */
  isVast: boolean;
  isTest: boolean;
  format: ViewFormat;
  /** Of an interstitial, as its campaign had it at the opening; null for a rewarded view. */
  skipAfterMs: number | null;
  chargedAfterMs: number | null;
  durationMs: number;
  openedAt: Date;
  deadline: Date;
  /** Creatives that the code was opened with before and that could not be played. */
  failedCreatives: string[];
  /** SHA-256 in hex. */
  tokenHash: string;
  openings: number;
  firstSequence: number;
  /** Why its player last gave up on the video, and when. */
  fault: PlaybackFault | null;
  faultAt: Date | null;
  /** Incremented by each change. */
  version: number;
  state: StoredState;
  acceptedMs: number;
  /** Real time credited to this view. */
  clockMs: number;
  progress: Progress;
  signals: ViewingSignals | null;
  startedAt: Date | null;
  lastReportAt: Date | null;
  watchedAt: Date | null;
  /** An interstitial may be charged before it is closed. */
  chargedAt: Date | null;
  closeRequestedAt: Date | null;
  closeReason: CloseReason | null;
  /** Reports that came too early; they are settled at `dueAt` without another call. */
  pendingReports: ProgressReport[] | null;
  /** When the sweeper must process it. */
  dueAt: Date | null;
  /** Real time before this moment was credited to one of the viewer's views and counts for no other. */
  creditedUntil: Date | null;
  /** The view that holds the viewer's clock, and its version when it was read. Taking the clock increments that version. */
  clockHolderId: string | null;
  clockHolderVersion: number | null;
  /** Real time of the viewer before this moment was credited to earlier holders of the clock. */
  viewerCreditedUntil: Date | null;
}

/** As the statements return it: ranges and signals are flat arrays of numbers. */
export type ViewRow = Omit<AdView, "progress" | "signals"> & {
  covered: number[];
  sequences: number[];
  refusals: Progress["refusals"] | null;
  signals: number[] | null;
  holderCreditedUntil: Date | null;
};

const columns = {
  botId: "s.bot_id",
  viewId: "s.view_id",
  code: "s.code",
  userId: "s.user_id",
  reference: "s.reference",
  startParam: "s.start_param",
  clientNote: "s.client_note",
  campaignId: "s.campaign_id",
  creativeId: "s.creative_id",
  isVast: "s.is_vast",
  isTest: "s.is_test",
  format: "s.format",
  skipAfterMs: "s.skip_after_ms",
  chargedAfterMs: "s.charged_after_ms",
  durationMs: "s.duration_ms",
  openedAt: "s.opened_at",
  deadline: "s.deadline",
  failedCreatives: "s.failed_creatives",
  tokenHash: "encode(s.token_hash, 'hex')",
  openings: "s.openings",
  firstSequence: "s.first_sequence",
  fault: "s.fault",
  faultAt: "s.fault_at",
  version: "s.version",
  state: "s.state",
  acceptedMs: "s.accepted_ms",
  clockMs: "s.clock_ms",
  covered: "s.covered",
  sequences: "s.sequences",
  refusals: "s.refusals",
  signals: "s.signals",
  startedAt: "s.started_at",
  lastReportAt: "s.last_report_at",
  watchedAt: "s.watched_at",
  chargedAt: "s.charged_at",
  closeRequestedAt: "s.close_requested_at",
  closeReason: "s.close_reason",
  pendingReports: "s.pending_reports",
  dueAt: "s.due_at",
  creditedUntil: "s.credited_until",
  clockHolderId: "v.clock_view_id",
  clockHolderVersion: "h.version",
  viewerCreditedUntil: "v.credited_until",
  holderCreditedUntil: "h.credited_until",
} satisfies ColumnsOf<ViewRow>;

/** Columns of `views as s`, `viewers as v` and `h`, the view that holds the viewer's clock. */
export const viewColumns = selected(columns);

const fields = Object.keys(columns) as (keyof ViewRow)[];

/** The view's columns of a row that has others, too. */
export function viewRowIn(row: ViewRow): ViewRow {
  return Object.fromEntries(fields.map((field) => [field, row[field]])) as unknown as ViewRow;
}

/** SQL that joins the row `h`. */
export const clockHolder = `left join lateral (
    select version, credited_until from views
    where views.bot_id = v.bot_id and views.view_id = v.clock_view_id and ${inWeekOfView("v.clock_view_id", "views.code")}
    limit 1
  ) as h on true`;

const source = "views s left join viewers v on v.bot_id = s.bot_id and v.user_id = s.user_id";

const read = statement<ViewRow>(
  "views.read",
  `select ${viewColumns} from ${source} ${clockHolder}
   where s.bot_id = $1 and s.view_id = $2 and ${inWeekOfView("$2", "s.code")}`,
);
const lock = statement<ViewRow>("views.lock", `${read.text} for update of s`);

export function viewOf({ covered, sequences, refusals, signals, holderCreditedUntil, ...row }: ViewRow): AdView {
  const isHolder = row.clockHolderId === row.viewId;
  return {
    ...row,
    creditedUntil: isHolder
      ? row.creditedUntil
      : latest(row.creditedUntil, row.viewerCreditedUntil, holderCreditedUntil),
    progress: { covered: rangesOf(covered), sequences: rangesOf(sequences), refusals: refusals ?? {} },
    signals: signals && signalsOf(signals, row.openedAt),
  };
}

export async function readView(
  database: Transaction,
  id: { botId: string; viewId: string },
): Promise<AdView | undefined> {
  const [row] = await database.run(read, [id.botId, id.viewId]);
  return row && viewOf(row);
}

/** Locks the view's row until the transaction ends. */
export async function lockView(tx: Transaction, id: { botId: string; viewId: string }): Promise<AdView | undefined> {
  const [row] = await tx.run(lock, [id.botId, id.viewId]);
  return row && viewOf(row);
}

/** Clocks may differ by this much. */
const MAX_CLOCK_SKEW_MS = 60_000;

/** A moment further ahead was stored by a wrong clock: it counts as now, so that it stops no view until then. */
export function plausibleTimes(view: AdView, now: Date): AdView {
  const { startedAt, creditedUntil, closeRequestedAt } = view;
  const isInFuture = (moment: Date | null) => moment !== null && moment.getTime() > now.getTime() + MAX_CLOCK_SKEW_MS;
  if (![startedAt, creditedUntil, closeRequestedAt].some(isInFuture)) return view;
  const plausible = (moment: Date | null) => (isInFuture(moment) ? now : moment);
  return {
    ...view,
    startedAt: plausible(startedAt),
    creditedUntil: plausible(creditedUntil),
    closeRequestedAt: plausible(closeRequestedAt),
  };
}

export function latest(...moments: (Date | null)[]): Date | null {
  return moments.reduce(
    (later, moment) => (later === null || (moment !== null && moment > later) ? moment : later),
    null,
  );
}

function rangesOf(numbers: readonly number[]): Range[] {
  const ranges: Range[] = [];
  for (let index = 0; index + 1 < numbers.length; index += 2) {
    ranges.push([numbers[index] ?? 0, numbers[index + 1] ?? 0]);
  }
  return ranges;
}

import type { ViewSuspicion } from "@intermission/operator-api/suspicions";
import { rowParameters } from "@intermission/postgres/row-parameters";
import { type EventWorth, worthOf } from "../campaigns/event-worth.ts";
import { webhookBody } from "../deliveries/webhook-body.ts";
import type { AdView } from "./ad-view.ts";
import {
  endStateOf,
  milestonesOf,
  type ViewDecision,
  type ViewerFacts,
  viewAfter,
  viewerAfter,
} from "./settle-view.ts";
import { takesClock, type ViewChange, type ViewEnding } from "./view-change.ts";
import { numbersOf } from "./viewing-signals.ts";

const progressColumns = {
  position: "integer",
  bot_id: "text",
  view_id: "text",
  code: "text",
  version: "integer",
  accepted_ms: "integer",
  clock_ms: "integer",
  credited_until: "timestamptz",
  covered: "integer[]",
  sequences: "integer[]",
  signals: "integer[]",
  refusals: "jsonb",
  watched_at: "timestamptz",
  due_at: "timestamptz",
  milestones: "text[]",
  now: "timestamptz",
} as const;

/** The parameters of the statement that stores progress only. */
export const progressRows = rowParameters(progressColumns);

/** The parameters of the statement that stores all other changes. */
export const changeRows = rowParameters({
  ...progressColumns,
  user_id: "text",
  milestone_reasons: "text[]",
  takes_clock: "boolean",
  clock_holder: "text",
  clock_holder_version: "integer",
  viewer_credited_until: "timestamptz",
  due_before: "timestamptz",
  token_hash: "text",
  openings: "integer",
  start_param: "text",
  client_note: "text",
  first_sequence: "integer",
  state: "text",
  started_at: "timestamptz",
  close_requested_at: "timestamptz",
  closed_at: "timestamptz",
  charged_at: "timestamptz",
  close_reason: "text",
  pending_reports: "jsonb",
  last_report_at: "timestamptz",
  suspicions: "text[]",
  decisions_read: "bigint",
  decisions: "bigint",
  day: "text",
  earned_today: "integer",
  last_earned_at: "timestamptz",
  last_interstitial_at: "timestamptz",
  clock_change: "text",
  released_until: "timestamptz",
  event_id: "text",
  event: "text",
  event_note: "text",
  price_micros: "bigint",
  revenue_micros: "bigint",
  body: "text",
  traceparent: "text",
});

// Every report runs this, and a spread would copy each property.
export function progressRowOf({ before, after, milestones, now }: ViewChange, position: number) {
  const { covered, sequences, refusals } = after.progress;
  return {
    position,
    bot_id: before.botId,
    view_id: before.viewId,
    code: before.code,
    version: before.version,
    accepted_ms: after.acceptedMs,
    clock_ms: after.clockMs,
    credited_until: after.creditedUntil,
    covered: covered.flat(),
    sequences: sequences.flat(),
    signals: after.signals && numbersOf(after.signals, after.openedAt),
    refusals: Object.keys(refusals).length > 0 ? refusals : null,
    watched_at: after.watchedAt,
    due_at: after.dueAt,
    milestones: milestones.length > 0 ? milestones : null,
    now,
  };
}

/** A change, with what was decided about it, and on which facts. */
export interface DecidedChange {
  change: ViewChange;
  decision: ViewDecision;
  facts: ViewerFacts | undefined;
}

export function changeRowOf({ change, decision, facts }: DecidedChange, position: number) {
  const { before, ending, now } = change;
  const after = viewAfter(change, decision);
  const viewer = viewerAfter(change, decision, facts);
  const state = endStateOf(decision);
  const milestones = milestonesOf(change, decision);
  const isEarned = state !== undefined && state === decision.outcome;
  const earning = earningOf(change, decision);
  return {
    ...progressRowOf({ ...change, after }, position),
    user_id: before.userId,
    milestones: milestones.map(({ milestone }) => milestone),
    milestone_reasons: milestones.map(({ reason }) => reason),
    takes_clock: takesClock(change),
    clock_holder: before.clockHolderId,
    clock_holder_version: before.clockHolderVersion,
    viewer_credited_until: before.viewerCreditedUntil,
    due_before: before.dueAt,
    token_hash: after.tokenHash === before.tokenHash ? null : after.tokenHash,
    openings: after.openings,
    start_param: after.startParam,
    client_note: after.clientNote,
    first_sequence: after.firstSequence,
    state: after.state,
    started_at: after.startedAt,
    close_requested_at: after.closeRequestedAt,
    closed_at: state === undefined ? null : now,
    charged_at: after.chargedAt,
    close_reason: after.closeReason,
    pending_reports: after.pendingReports,
    last_report_at: after.lastReportAt,
    suspicions: isEarned ? (ending?.suspicions ?? ([] satisfies ViewSuspicion[])) : null,
    decisions_read: facts?.decisions,
    decisions: viewer.decisions,
    day: viewer.earnings?.day,
    earned_today: viewer.earnings?.earnedToday,
    last_earned_at: viewer.earnings?.lastEarnedAt,
    last_interstitial_at: viewer.lastInterstitialAt,
    clock_change: viewer.clock?.kind,
    released_until: viewer.clock?.kind === "released" ? viewer.clock.creditedUntil : null,
    ...(earning && facts ? eventColumns(change, earning, facts) : noEvent),
  };
}

/** The ending that creates the view's one event; undefined: this change creates none, or an earlier one did. */
function earningOf({ before, ending, charge }: ViewChange, decision: ViewDecision): ViewEnding | undefined {
  if (before.chargedAt !== null) return undefined;
  return decision.outcome === "charged" ? charge : decision.outcome === "rewarded" ? ending : undefined;
}

const noEvent = {
  event_note: null,
  event_id: null,
  event: null,
  price_micros: null,
  revenue_micros: null,
  body: null,
  traceparent: null,
};

function eventColumns({ after, now }: ViewChange, ending: ViewEnding, facts: ViewerFacts) {
  const worth = worthOf(facts, after);
  const { priceMicros, revenueMicros } = worth;
  return {
    event_id: ending.eventId,
    event: after.format,
    event_note: facts.sendsClientNotes ? after.clientNote : null,
    price_micros: priceMicros,
    revenue_micros: revenueMicros,
    body: bodyOf(after, { ...facts, ...ending }, now, worth),
    traceparent: ending.traceparent,
  };
}

/** The bytes of the event that the view may earn; null: nothing is sent of it. */
export function bodyOf(
  view: Pick<AdView, "botId" | "userId" | "code" | "reference" | "startParam" | "clientNote" | "isTest" | "format">,
  {
    eventId,
    sendsInterstitials,
    sendsClientNotes,
  }: { eventId: string } & Pick<ViewerFacts, "sendsInterstitials" | "sendsClientNotes">,
  now: Date,
  { fields }: EventWorth,
): string | null {
  if (view.format === "interstitial" && !sendsInterstitials) return null;
  const { botId, userId, code, reference, startParam, isTest } = view;
  const clientNote = sendsClientNotes ? view.clientNote : null;
  const of = { eventId, botId, userId, code, reference, startParam, clientNote };
  return webhookBody({ event: view.format, ...of, at: now, worth: fields, isTest });
}

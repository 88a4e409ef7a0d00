import type { AnyEventType } from "@intermission/ad-core/event-words";
import type { PlaybackFault, RequestErrorClass } from "@intermission/ad-core/wire-fields";
import type { EndReason, ListedDelivery } from "@intermission/operator-api/deliveries";
import type { CloseReason, StoredViewState } from "@intermission/operator-api/reviews";
import type { ClickSuspicion, ViewSuspicion } from "@intermission/operator-api/suspicions";
import type {
  CountedRefusal,
  StoredRequest,
  TimelineDetail,
  TimelineEntry,
  TimelineStep,
  WithheldOutcome,
} from "@intermission/operator-api/timeline";
import { type Database, type Statement, statement } from "@intermission/postgres/open-database";

/** Matches rows of the bot $1 with one of the codes $2; each of these statements reads by an index that begins with the code. */
const of = (alias: string) => `${alias}.bot_id = $1 and ${alias}.code = any ($2::text[])`;

type Ids = Pick<TimelineEntry, "code" | "id" | "campaignId" | "creativeId">;
const noIds: Ids = { code: null, id: null, campaignId: null, creativeId: null };

interface Step {
  at: Date;
  step: TimelineStep;
  details?: readonly (TimelineDetail | false)[];
  amountMicros?: number | null;
}

function entryOf(ids: Ids, { at, step, details = [], amountMicros = null }: Step): TimelineEntry {
  const { code, id, campaignId, creativeId } = ids;
  const known = details.filter((detail) => detail !== false);
  return { at, step, code, id, campaignId, creativeId, amountMicros, details: known };
}

const suspicious = (suspicions: readonly (ViewSuspicion | ClickSuspicion)[] | null): TimelineDetail | false =>
  suspicions !== null && suspicions.length > 0 && { kind: "suspicions", suspicions: [...suspicions] };

interface Issue {
  code: string;
  issuedAt: Date;
  expiresAt: Date;
  reference: string;
}
const issues = statement<Issue>(
  "timeline.issued",
  `select code, issued_at as "issuedAt", expires_at as "expiresAt", reference from codes c where ${of("c")}`,
);

function entryOfIssue({ code, issuedAt, expiresAt, reference }: Issue): TimelineEntry {
  return entryOf(
    { ...noIds, code },
    {
      at: issuedAt,
      step: "code-issued",
      details: [{ kind: "valid-until", at: expiresAt }, reference !== "" && { kind: "reference", reference }],
    },
  );
}

type AdRequestRow = StoredRequest & Pick<Ids, "code" | "campaignId" | "creativeId"> & { at: Date };
const requestColumns = `code, occurred_at as at, outcome, reason, campaign_id as "campaignId", creative_id as "creativeId"`;
const requests = statement<AdRequestRow>(
  "timeline.requested",
  `select ${requestColumns} from ad_requests r where ${of("r")} order by occurred_at desc limit 200`,
);

export function entryOfRequest(request: AdRequestRow): TimelineEntry {
  const details = [detailOfRequest(request)];
  return entryOf({ ...request, id: null }, { at: request.at, step: "ad-requested", details });
}

function detailOfRequest(request: StoredRequest): TimelineDetail {
  switch (request.outcome) {
    case "filled":
      return { kind: "filled" };
    case "no-ad":
      return { kind: "no-ad", reason: request.reason };
    case "limited":
      return { kind: "limited", reason: request.reason };
    case "refused":
      return { kind: "request-refused", reason: request.reason };
    default:
      return request satisfies never;
  }
}

interface View extends Ids {
  isTest: boolean;
  openedAt: Date;
  startedAt: Date | null;
  watchedAt: Date | null;
  acceptedMs: number;
  durationMs: number;
  closedAt: Date | null;
  closeReason: CloseReason | null;
  /** The latest report or playback fault. */
  seenAt: Date | null;
  fault: PlaybackFault | null;
  state: StoredViewState;
  suspicions: ViewSuspicion[];
  refusals: Partial<Record<CountedRefusal, number>> | null;
  decidedAt: Date | null;
}
const views = statement<View>(
  "timeline.views",
  `select code, view_id as id, campaign_id as "campaignId", creative_id as "creativeId", is_test as "isTest", opened_at as "openedAt",
     started_at as "startedAt", watched_at as "watchedAt", accepted_ms as "acceptedMs", duration_ms as "durationMs",
     closed_at as "closedAt", close_reason as "closeReason", coalesce(last_report_at, fault_at) as "seenAt", fault, state,
     suspicions, refusals, decided_at as "decidedAt"
   from views s where ${of("s")}`,
);

function entriesOfView(view: View): TimelineEntry[] {
  const { openedAt, startedAt, watchedAt, acceptedMs, durationMs, decidedAt, state } = view;
  const endedAt = view.closedAt ?? view.seenAt;
  const watched = { kind: "watched", acceptedMs, durationMs } as const;
  const steps: (Step | false)[] = [
    { at: openedAt, step: "view-opened", details: [view.isTest && { kind: "test" }] },
    startedAt !== null && { at: startedAt, step: "view-started" },
    watchedAt !== null && { at: watchedAt, step: "view-watched", details: [watched] },
    endedAt !== null && { at: endedAt, step: "view-closed", details: detailsOfEnd(view) },
    decidedAt !== null && { at: decidedAt, step: "reviewed", details: [decisionOf(state)] },
  ];
  return steps.filter((step) => step !== false).map((step) => entryOf(view, step));
}

/** The details of a view's end, or of its progress so far if it is not closed. */
function detailsOfEnd(view: View): (TimelineDetail | false)[] {
  const { closedAt, closeReason, state, suspicions, fault, acceptedMs, durationMs } = view;
  const isOpen = closedAt === null;
  const refusals = Object.entries(view.refusals ?? {}) as [CountedRefusal, number][];
  return [
    isOpen && { kind: "not-closed" },
    isOpen && { kind: "watched", acceptedMs, durationMs },
    // A view that is about to be closed has a reason, too; playback that goes on removes it.
    !isOpen && closeReason !== null && { kind: "closed", reason: closeReason },
    { kind: "view-state", state },
    suspicious(suspicions),
    isOpen && fault !== null && { kind: "playback-fault", fault },
    ...refusals.map(([reason, count]): TimelineDetail => ({ kind: "reports-refused", reason, count })),
  ];
}

function decisionOf(state: StoredViewState | WithheldOutcome): TimelineDetail {
  return { kind: "decision", decision: state === "refused" ? "refused" : "released" };
}

const ctaClicks = statement<Ids & { at: Date }>(
  "timeline.cta-clicks",
  `select t.occurred_at as at, s.code, t.click_id as id, t.campaign_id as "campaignId", t.creative_id as "creativeId"
   from views s join cta_clicks t on t.view_id = s.view_id and t.bot_id = s.bot_id and t.opened_at = s.opened_at where ${of("s")}`,
);

interface WithheldClick extends Pick<Ids, "code" | "id" | "campaignId"> {
  at: Date;
  outcome: WithheldOutcome;
  suspicions: ClickSuspicion[];
  decidedAt: Date | null;
}
const withheldClicks = statement<WithheldClick>(
  "timeline.withheld-clicks",
  `select code, click_id as id, campaign_id as "campaignId", occurred_at as at, outcome, suspicions, decided_at as "decidedAt"
   from withheld_clicks w where ${of("w")} order by occurred_at limit 200`,
);

function entriesOfWithheldClick(click: WithheldClick): TimelineEntry[] {
  const { outcome, decidedAt } = click;
  const ids = { ...click, creativeId: null };
  const entries = [entryOf(ids, stepOfWithheldClick(click))];
  if (decidedAt !== null)
    entries.push(entryOf(ids, { at: decidedAt, step: "reviewed", details: [decisionOf(outcome)] }));
  return entries;
}

function stepOfWithheldClick({ at, outcome, suspicions }: WithheldClick): Step {
  const details = [suspicious(suspicions)];
  if (outcome === "held" || outcome === "released") return { at, step: "click-held", details };
  if (outcome === "refused") return { at, step: "click-refused", details };
  return { at, step: "click-not-counted", details: [{ kind: "visit-refused", reason: outcome }, ...details] };
}

interface EventRow extends Ids {
  at: Date;
  event: AnyEventType;
  isTest: boolean;
  priceMicros: number | null;
  suspicions: ClickSuspicion[] | null;
  /** Null: its webhook is no longer kept. */
  deliveryState: ListedDelivery["state"] | null;
  endReason: EndReason | null;
  refundedAt: Date | null;
  refundedMicros: number | null;
}
const events = statement<EventRow>(
  "timeline.earned",
  `select e.occurred_at as at, e.code, e.event_id as id, e.campaign_id as "campaignId", e.creative_id as "creativeId", e.event,
     e.is_test as "isTest", e.price_micros as "priceMicros", e.suspicions, d.state as "deliveryState",
     d.end_reason as "endReason", f.occurred_at as "refundedAt", f.price_micros as "refundedMicros"
   from events e left join deliveries d on d.event_id = e.event_id and d.bot_id = e.bot_id
   left join refunds f on f.event_id = e.event_id where ${of("e")}`,
);

function entriesOfEvent(earned: EventRow): TimelineEntry[] {
  const { at, event, isTest, priceMicros, suspicions, deliveryState, endReason, refundedAt, refundedMicros } = earned;
  const details = [
    { kind: "event", event } as const,
    isTest && ({ kind: "test" } as const),
    suspicious(suspicions),
    deliveryState !== null && ({ kind: "webhook", state: deliveryState, endReason } as const),
  ];
  const entries = [entryOf(earned, { at, step: "earned", details, amountMicros: priceMicros })];
  if (refundedAt !== null)
    entries.push(entryOf(earned, { at: refundedAt, step: "refunded", amountMicros: refundedMicros }));
  return entries;
}

interface Attempt extends Pick<Ids, "code" | "id"> {
  at: Date;
  attempt: number;
  status: number | null;
  errorClass: RequestErrorClass | null;
  totalMs: number | null;
  isReplay: boolean;
}
const attempts = statement<Attempt>(
  "timeline.attempts",
  `select a.started_at as at, e.code, e.event_id as id, a.attempt, a.status, a.error_class as "errorClass",
     a.total_ms as "totalMs", a.is_replay as "isReplay"
   from events e join delivery_attempts a on a.event_id = e.event_id and a.bot_id = e.bot_id where ${of("e")}
   order by a.started_at limit 500`,
);

function entryOfAttempt({ code, id, at, attempt, status, errorClass, totalMs, isReplay }: Attempt): TimelineEntry {
  const isAccepted = status !== null && status >= 200 && status <= 299;
  const details = [
    { kind: "attempt", attempt, isReplay } as const,
    status !== null && ({ kind: "answer", status } as const),
    errorClass !== null && ({ kind: "no-answer", errorClass } as const),
    totalMs !== null && ({ kind: "took", milliseconds: totalMs } as const),
  ];
  return entryOf({ ...noIds, code, id }, { at, step: isAccepted ? "webhook-answered" : "webhook-failed", details });
}

interface Conversion extends Ids {
  at: Date;
  event: string;
  valueMicros: number | null;
}
const conversions = statement<Conversion>(
  "timeline.converted",
  `select v.occurred_at as at, clicks.code, v.click_id as id, v.campaign_id as "campaignId", v.creative_id as "creativeId",
     v.value_micros as "valueMicros", v.event
   from (
     select code, 'clk_' || substr(event_id, 5) as click_id from events e where ${of("e")} and event = 'direct_link'
     union all select code, click_id from withheld_clicks w where ${of("w")}
     union all select s.code, t.click_id from views s
       join cta_clicks t on t.view_id = s.view_id and t.bot_id = s.bot_id and t.opened_at = s.opened_at where ${of("s")}
   ) as clicks
   -- Each click looks up its own: a join reads all conversions instead.
   cross join lateral (select * from conversions where conversions.click_id = clicks.click_id offset 0) as v limit 200`,
);

function entryOfConversion({ at, event, valueMicros, ...ids }: Conversion): TimelineEntry {
  const details = [event !== "" && ({ kind: "conversion", event } as const)];
  return entryOf(ids, { at, step: "converted", details, amountMicros: valueMicros });
}

/** What is stored of these codes of a bot, in no order. */
export async function readFacts(
  database: Pick<Database, "run">,
  ids: [botId: string, codes: readonly string[]],
): Promise<TimelineEntry[]> {
  return [
    ...(await database.run(issues, ids)).map(entryOfIssue),
    ...(await database.run(requests, ids)).map(entryOfRequest),
    ...(await database.run(views, ids)).flatMap(entriesOfView),
    ...(await database.run(ctaClicks, ids)).map(({ at, ...ids }) => entryOf(ids, { at, step: "cta-clicked" })),
    ...(await database.run(withheldClicks, ids)).flatMap(entriesOfWithheldClick),
    ...(await database.run(events, ids)).flatMap(entriesOfEvent),
    ...(await database.run(attempts, ids)).map(entryOfAttempt),
    ...(await database.run(conversions, ids)).map(entryOfConversion),
  ];
}

/** The latest ad requests of a user without a code. No index covers them. Unnamed, so planned each time. */
export const requestsWithoutCode: Statement<AdRequestRow> = {
  name: "",
  text: `select ${requestColumns} from ad_requests where bot_id = $1 and user_id = $2 and code is null
   order by occurred_at desc limit $3`,
};

import type { ViewState } from "@intermission/ad-core/client-api";
import type { PayPerCode } from "@intermission/ad-core/client-words";
import { isCode } from "@intermission/ad-core/code";
import { type EventType, eventType } from "@intermission/ad-core/wire-fields";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";

export interface FoundCode {
  botId: string;
  code: string;
  userId: string;
  reference: string | null;
  /** The channel or group that a view lets the user into. */
  joinTitle: string | null;
  issuedAt: Date;
  expiresAt: Date;
  isExpired: boolean;
  /** The events that it has already earned. */
  earned: EventType[];
}

// The prefix identifies the bot, whose id is the first column of the codes' key.
const select = statement<Omit<FoundCode, "isExpired">>(
  "codes.find",
  `select bot_id as "botId", code, user_id as "userId", nullif(reference, '') as reference,
     join_title as "joinTitle", issued_at as "issuedAt", expires_at as "expiresAt",
     array(select event from events where events.bot_id = codes.bot_id and events.code = codes.code) as earned
   from codes where bot_id = (select bot_id from bots where code_prefix = substr($1, 3, 4)) and code = $1`,
);

/** Finds a code by its text, without any check of the user. */
export async function findCode(
  database: Database | Transaction,
  { code, now }: { code: string; now: Date },
): Promise<FoundCode | undefined> {
  const [row] = isCode(code) ? await database.run(select, [code]) : [];
  return row && { ...row, isExpired: row.expiresAt <= now };
}

export interface DescribedCode extends Omit<FoundCode, "earned"> {
  /** The publisher's own `startapp` value of the launch. */
  startParam: string | null;
  events: { event: EventType; eventId: string; occurredAt: Date }[];
  views: DescribedView[];
  /** Visits of the direct link, by outcome. */
  clicks: Record<string, number>;
  /** Ad requests, by outcome. */
  requests: Record<string, number>;
}

interface DescribedView {
  viewId: string;
  startParam: string | null;
  state: ViewState;
  review: "held" | "refused" | undefined;
  suspicions: string[];
  openedAt: Date;
  watchedAt: Date | null;
  closedAt: Date | null;
  acceptedMs: number;
  durationMs: number;
  /** Refused reports, by reason. */
  refusals: Record<string, number>;
}

/** The history of a code of this bot: what it earned, its views, and why visits were refused. */
export async function describeCode(
  database: Database,
  { botId, code, now }: { botId: string; code: string; now: Date },
): Promise<{ outcome: "found"; code: DescribedCode } | { outcome: "unknown-code" }> {
  const found = await findCode(database, { code, now });
  if (!found || found.botId !== botId) return { outcome: "unknown-code" };
  const earned = await database.run(selectEvents, [botId, code]);
  const [views, clicks, requests] = await Promise.all([
    viewsOf(database, botId, code),
    clicksOf(database, found, earned),
    requestsOf(database, found),
  ]);
  const events = earned.map(({ isTest: _isTest, ...event }) => event);
  const startParam = views.at(-1)?.startParam ?? null;
  return { outcome: "found", code: { ...found, startParam, events, views, clicks, requests } };
}

/** The events that a code can still earn now. A view that is held may still earn its own. */
export function canEarn(
  { isExpired, events, views, clicks }: Pick<DescribedCode, "isExpired" | "events" | "views" | "clicks">,
  payPerCode: PayPerCode,
): EventType[] {
  if (isExpired) return [];
  const used = new Set(events.map(({ event }) => event));
  if (views.some(({ review }) => review !== undefined)) used.add("rewarded");
  if (clicks.held !== undefined || clicks.suspicious !== undefined) used.add("direct_link");
  if (payPerCode === "once" && used.size > 0) return [];
  return eventType.options.filter((event) => !used.has(event));
}

interface DescribedEvent {
  event: EventType;
  eventId: string;
  occurredAt: Date;
  isTest: boolean;
}

const selectEvents = statement<DescribedEvent>(
  "codes.describe-events",
  `select event, event_id as "eventId", occurred_at as "occurredAt", is_test as "isTest"
   from events where bot_id = $1 and code = $2 order by occurred_at`,
);
const selectViews = statement<Omit<DescribedView, "state" | "review"> & { state: ViewState | "held" | "refused" }>(
  "codes.describe-views",
  `select view_id as "viewId", start_param as "startParam", state, suspicions, opened_at as "openedAt", watched_at as "watchedAt",
     closed_at as "closedAt", accepted_ms as "acceptedMs", duration_ms as "durationMs",
     coalesce(refusals, '{}') as refusals
   from views where bot_id = $1 and code = $2 order by opened_at`,
);
/** More than a quarter of an hour, and than the clock of a node may be behind. Older partitions are not searched. */
const BEFORE_ISSUE = "1 day";
const countRefusals = statement<{ reason: string; count: number }>(
  "codes.count-refused-clicks",
  `select reason, sum(count)::bigint as count from click_refusals
   where bot_id = $1 and code = $2 and quarter >= $3::timestamptz - interval '${BEFORE_ISSUE}' group by reason`,
);
const countRequests = statement<{ reason: string; count: number }>(
  "codes.count-requests",
  `select case reason when '' then outcome else reason end as reason, count(*) as count
   from ad_requests
   where bot_id = $1 and code = $2 and occurred_at >= $3::timestamptz - interval '${BEFORE_ISSUE}' group by 1`,
);

async function viewsOf(database: Database, botId: string, code: string): Promise<DescribedView[]> {
  const views = await database.run(selectViews, [botId, code]);
  return views.map(({ viewId, state, ...others }) => ({
    viewId,
    ...(state === "held" || state === "refused"
      ? { state: "watched" as const, review: state }
      : { state, review: undefined }),
    ...others,
  }));
}

/** Clicks that earned are events; the others are counted. */
async function clicksOf(
  database: Database,
  { botId, code, issuedAt }: FoundCode,
  events: readonly DescribedEvent[],
): Promise<Record<string, number>> {
  const refused = await database.run(countRefusals, [botId, code, issuedAt]);
  const earned = events
    .filter(({ event }) => event === "direct_link")
    .map(({ isTest }) => [isTest ? "test" : "counted", 1] as const);
  return Object.fromEntries([...earned, ...refused.map(({ reason, count }) => [reason, count] as const)]);
}

async function requestsOf(database: Database, { botId, code, issuedAt }: FoundCode): Promise<Record<string, number>> {
  const requests = await database.run(countRequests, [botId, code, issuedAt]);
  return Object.fromEntries(requests.map(({ reason, count }) => [reason, count]));
}

import type { EventType, SessionState } from "@intermission/ad-core/client-api";
import { isCode } from "@intermission/ad-core/code";
import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase, AdTransaction } from "../ad-database.ts";

export interface FoundCode {
  botId: string;
  code: string;
  userId: string;
  reference: string | null;
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
     issued_at as "issuedAt", expires_at as "expiresAt",
     array(select event from events where events.bot_id = codes.bot_id and events.code = codes.code) as earned
   from codes where bot_id = (select bot_id from bots where code_prefix = left($1, 4)) and code = $1`,
);

/** Finds a code by its text, without any check of the user. */
export async function findCode(
  database: AdDatabase | AdTransaction,
  { code, now }: { code: string; now: Date },
): Promise<FoundCode | undefined> {
  const [row] = isCode(code) ? await database.run(select, [code]) : [];
  return row && { ...row, isExpired: row.expiresAt <= now };
}

export interface DescribedCode {
  botId: string;
  code: string;
  userId: string;
  reference: string | null;
  issuedAt: Date;
  expiresAt: Date;
  isExpired: boolean;
  events: { event: EventType; eventId: string; occurredAt: Date }[];
  sessions: DescribedSession[];
  /** Visits of the direct link, by outcome. */
  clicks: Record<string, number>;
  /** Ad requests, by outcome. */
  requests: Record<string, number>;
}

export interface DescribedSession {
  sessionId: string;
  state: SessionState;
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
  database: AdDatabase,
  { botId, code, now }: { botId: string; code: string; now: Date },
): Promise<{ outcome: "found"; code: DescribedCode } | { outcome: "unknown-code" }> {
  const found = await findCode(database, { code, now });
  if (!found || found.botId !== botId) return { outcome: "unknown-code" };
  const earned = await eventsOf(database, botId, code);
  const [sessions, clicks, requests] = await Promise.all([
    sessionsOf(database, botId, code),
    clicksOf(database, { botId, code, events: earned }),
    requestsOf(database, botId, code),
  ]);
  const events = earned.map(({ isTest: _isTest, ...event }) => event);
  return { outcome: "found", code: { ...found, events, sessions, clicks, requests } };
}

type DescribedEvents = Awaited<ReturnType<typeof eventsOf>>;

async function eventsOf(database: AdDatabase, botId: string, code: string) {
  const query = database.query.selectFrom("events").select(["event", "event_id", "occurred_at", "is_test"]);
  const rows = await query.where("bot_id", "=", botId).where("code", "=", code).orderBy("occurred_at").execute();
  return rows.map((row) => ({
    event: row.event,
    eventId: row.event_id,
    occurredAt: row.occurred_at,
    isTest: row.is_test,
  }));
}

async function sessionsOf(database: AdDatabase, botId: string, code: string): Promise<DescribedSession[]> {
  const query = database.query.selectFrom("ad_sessions").selectAll();
  const rows = await query.where("bot_id", "=", botId).where("code", "=", code).orderBy("opened_at").execute();
  return rows.map((row) => ({
    sessionId: row.session_id,
    ...(row.state === "held" || row.state === "refused"
      ? { state: "watched" as const, review: row.state }
      : { state: row.state, review: undefined }),
    suspicions: row.suspicions,
    openedAt: row.opened_at,
    watchedAt: row.watched_at,
    closedAt: row.closed_at,
    acceptedMs: row.accepted_ms,
    durationMs: row.duration_ms,
    refusals: row.refusals ?? {},
  }));
}

/** Clicks that earned are events; the others are counted. */
async function clicksOf(
  database: AdDatabase,
  { botId, code, events }: { botId: string; code: string; events: DescribedEvents },
): Promise<Record<string, number>> {
  const refused = await database.query
    .selectFrom("click_refusals")
    .select(({ fn }) => ["reason", fn.sum<string>("count").as("count")])
    .where("bot_id", "=", botId)
    .where("code", "=", code)
    .groupBy("reason")
    .execute();
  const earned = events
    .filter(({ event }) => event === "direct_link")
    .map(({ isTest }) => [isTest ? "test" : "counted", 1] as const);
  return Object.fromEntries([...earned, ...refused.map(({ reason, count }) => [reason, Number(count)] as const)]);
}

async function requestsOf(database: AdDatabase, botId: string, code: string): Promise<Record<string, number>> {
  const query = database.query
    .selectFrom("ad_requests")
    .select(({ fn }) => ["outcome", "reason", fn.countAll<number>().as("count")]);
  const rows = await query
    .where("bot_id", "=", botId)
    .where("code", "=", code)
    .groupBy(["outcome", "reason"])
    .execute();
  return Object.fromEntries(rows.map(({ outcome, reason, count }) => [reason === "" ? outcome : reason, count]));
}

import { randomInt } from "node:crypto";
import { type Author, audit, openChange } from "@intermission/postgres/audit";
import { type Database, type Statement, statement, type Transaction } from "@intermission/postgres/open-database";

interface ErasureStep {
  table: string;
  becomes: string;
  /** $1 bot id, $2 user id. */
  where: string;
  /** $3 the pseudonym. Without `set` the rows are deleted. */
  set?: string;
}

const ofUser = "bot_id = $1 and user_id = $2";
const inViews = "(bot_id, view_id) in (select bot_id, view_id from views where bot_id = $1 and user_id = $2)";
const inEvents = "(bot_id, event_id) in (select bot_id, event_id from events where bot_id = $1 and user_id = $2)";
/** SQL for whether a text contains the user id as a separate number. */
const named = (column: string) => `${column} ~ ('(^|[^0-9])' || $2 || '([^0-9]|$)')`;

/**
 * Everything that identifies a user of a bot, ordered so that each step still finds its rows: rows that refer to views,
 * events and clicks come before these. A test compares the steps with the tables of the database.
 */
export const steps: readonly ErasureStep[] = [
  {
    table: "tracker_calls",
    becomes: "deleted; pending calls are not made",
    where: `(${inViews} or (bot_id, view_id) in (select bot_id, card_id from cards where ${ofUser}))`,
  },
  { table: "cards", becomes: "deleted: their buttons lead nowhere", where: ofUser },
  { table: "vast_ads", becomes: "deleted", where: inViews },
  {
    table: "conversions",
    becomes: "kept without the advertiser's conversion id",
    where: `conversion_id <> '' and conversion_id !~ '^erased-' and click_id in (
      select 'clk_' || substr(event_id, 5) from events where ${ofUser} union all
      select click_id from withheld_clicks where ${ofUser} union all select click_id from cta_clicks where ${ofUser})`,
    set: "conversion_id = 'erased-' || gen_random_uuid()",
  },
  { table: "ad_reports", becomes: "kept under a pseudonym", where: ofUser, set: "user_id = $3" },
  { table: "bought_creative_reports", becomes: "kept under a pseudonym", where: ofUser, set: "user_id = $3" },
  { table: "cta_clicks", becomes: "kept under a pseudonym", where: ofUser, set: "user_id = $3" },
  {
    table: "delivery_attempts",
    becomes: "kept without the receiver's answer",
    where: `response_text is not null and ${inEvents}`,
    set: "response_text = null",
  },
  {
    table: "deliveries",
    becomes: "cancelled",
    where: `state in ('waiting', 'held') and ${inEvents}`,
    // An event that was delivered before its replay was requested stays delivered.
    set: `state = coalesce(nullif(resume_state, 'waiting'), 'failed'),
      end_reason = case when resume_state in ('delivered', 'unknown') then end_reason else 'erased' end,
      finished_at = now(), resume_state = null, resume_due_at = null, is_bulk = false`,
  },
  {
    table: "event_bodies",
    becomes: "kept under a pseudonym, no longer sent",
    where: inEvents,
    set: `body = (select jsonb_build_object('event', event, 'event_id', event_id, 'bot_id', bot_id, 'user_tg_id', $3::text,
      'code', code, 'occurred_at', occurred_at)::text from events
      where events.event_id = event_bodies.event_id and events.bot_id = event_bodies.bot_id)`,
  },
  {
    table: "events",
    becomes: "kept under a pseudonym, no longer listed",
    where: ofUser,
    set: `user_id = $3, reference = null, start_param = null, client_note = null, is_erased = true, user_agent = null, address_hash = null,
      network_hash = null`,
  },
  // What the log of billed events has of it is the hash with this salt.
  { table: "view_launches", becomes: "deleted, with the salt of its hash in the log", where: ofUser },
  { table: "views_due", becomes: "deleted", where: inViews },
  {
    table: "views",
    becomes: "deleted: views under way",
    where: `state in ('opened', 'playing', 'watched') and ${ofUser}`,
  },
  {
    table: "views",
    becomes: "kept under a pseudonym; held views are refused",
    where: ofUser,
    set: `user_id = $3, reference = '', start_param = null, client_note = null, version = version + 1, token_hash = sha256(gen_random_uuid()::text::bytea),
      decided_at = case state when 'held' then now() else decided_at end,
      state = case state when 'held' then 'refused' else state end`,
  },
  {
    table: "withheld_clicks",
    becomes: "kept under a pseudonym, without user agent and address; held clicks are refused",
    where: ofUser,
    set: `user_id = $3, user_agent = '', address_hash = null, network_hash = null,
      outcome = case outcome when 'held' then 'refused' else outcome end`,
  },
  {
    table: "tasks",
    becomes: "kept under a pseudonym, without the publisher's reference",
    where: ofUser,
    set: `user_id = $3, reference = null, call = case when invite_link is not null then 'revoke' end,
      call_due_at = case when invite_link is not null then now() end,
      due_at = case when state in ('offered', 'opened') then now() + interval '2 days' when state = 'lapsed' then due_at end,
      kept_at = case when state = 'held' and is_paid then now() else kept_at end,
      left_at = case when state = 'held' and not is_paid then now() else left_at end,
      state = case when state in ('offered', 'opened') then 'lapsed'
        when state = 'held' then case when is_paid then 'kept' else 'left' end else state end`,
  },
  { table: "ad_requests", becomes: "kept under a pseudonym", where: ofUser, set: "user_id = $3" },
  { table: "viewers", becomes: "deleted", where: ofUser },
  { table: "viewer_consents", becomes: "deleted", where: ofUser },
  { table: "current_codes", becomes: "deleted", where: ofUser },
  {
    table: "codes",
    becomes: "kept under a pseudonym, expired, without the publisher's reference",
    where: ofUser,
    set: "user_id = $3, reference = '', expires_at = least(expires_at, now())",
  },
  {
    table: "bots",
    becomes: "no longer a tester",
    where: "bot_id = $1 and $2 = any(testers)",
    set: "testers = array_remove(testers, $2)",
  },
  {
    table: "endpoints",
    becomes: "kept without its last answer, which named the user",
    where: `bot_id = $1 and ${named("last_answer")}`,
    set: "last_answer = null",
  },
];

interface ErasedRows {
  table: string;
  /** The outcome for the rows, as text for the operator. */
  becomes: string;
  rows: number;
}

type EraseUserOutcome =
  /** `undelivered`: webhooks that were cancelled, or would be. */
  | { outcome: "counted" | "erased"; tables: ErasedRows[]; undelivered: number }
  /** A webhook of this user is being sent now: it cannot be cancelled, and its answer must be recorded. */
  | { outcome: "being-sent" };

const lockViewer = statement("users.lock-viewer", "select from viewers where bot_id = $1 and user_id = $2 for update");
const lockDeliveries: Statement<{ state: string }> = {
  name: "",
  text: `select deliveries.state from deliveries join events using (bot_id, event_id)
   where bot_id = $1 and user_id = $2 order by event_id for update of deliveries`,
};

/** Unnamed, so planned each time: these rare statements search tables that have no index by user. */
const planned = (text: string): Statement<{ rows: number }> => ({ name: "", text });
const counts = steps.map(({ table, where }) => planned(`select count(*) as rows from ${table} where ${where}`));
const changes = steps.map(({ table, where, set }) => {
  const change = set === undefined ? `delete from ${table}` : `update ${table} set ${set}`;
  return planned(`with changed as (${change} where ${where} returning 1) select count(*) as rows from changed`);
});

/**
 * Removes a person from a bot's records, or with `isMeant` false only counts. Rows that statistics and sums are derived from
 * stay under a random number that identifies no user; everything else about the person is deleted. Repeating it finds nothing.
 *
 * Undelivered webhooks are cancelled: they would send the user's id to the publisher, which the person no longer wants.
 * Deliver events that must be paid first.
 */
export async function eraseUser(
  database: Database,
  { botId, userId, isMeant, author }: { botId: string; userId: string; isMeant: boolean; author?: Author | undefined },
): Promise<EraseUserOutcome> {
  return database.transaction(async (tx) => {
    const change = await openChange(tx, author, botId);
    // A click of a known viewer waits for this lock, and is then judged anew: it finds its code expired. An opening, or a first
    // click, that is under way at this moment may still be recorded; erase again to be sure.
    await tx.run(lockViewer, [botId, userId]);
    const deliveries = await tx.run(lockDeliveries, [botId, userId]);
    if (isMeant && deliveries.some(({ state }) => state === "sending")) return { outcome: "being-sent" };
    const undelivered = deliveries.filter(
      ({ state }) => state === "waiting" || state === "held" || state === "sending",
    ).length;
    const tables = await runSteps(tx, isMeant ? changes : counts, { botId, userId, isMeant });
    if (isMeant && tables.length > 0) await audit(tx, change);
    return { outcome: isMeant ? "erased" : "counted", tables, undelivered };
  });
}

async function runSteps(
  tx: Transaction,
  statements: readonly Statement<{ rows: number }>[],
  { botId, userId, isMeant }: { botId: string; userId: string; isMeant: boolean },
): Promise<ErasedRows[]> {
  const pseudonym = newPseudonym();
  const found: ErasedRows[] = [];
  for (const [index, { table, becomes, set }] of steps.entries()) {
    const step = statements[index];
    if (step === undefined) throw new Error(`there is no statement for ${table}`);
    const isNamed = isMeant && set?.includes("$3");
    const [row] = await tx.run(step, isNamed ? [botId, userId, pseudonym] : [botId, userId]);
    if (row && row.rows > 0) found.push({ table, becomes, rows: row.rows });
  }
  return found;
}

/** Has the form of an id, since ids are digits everywhere, and is longer than any id that Telegram assigns. */
export function newPseudonym(): string {
  return `9${Array.from({ length: 19 }, () => randomInt(10)).join("")}`;
}

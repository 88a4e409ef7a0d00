export interface ErasureStep {
  table: string;
  becomes: string;
  /** $1 bot id, $2 user id. */
  where: string;
  /** $3 the pseudonym. Without `set` the rows are deleted. */
  set?: string;
}

const ofUser = "bot_id = $1 and user_id = $2";
const inSessions =
  "(bot_id, session_id) in (select bot_id, session_id from ad_sessions where bot_id = $1 and user_id = $2)";
const inEvents = "(bot_id, event_id) in (select bot_id, event_id from events where bot_id = $1 and user_id = $2)";
/** SQL for whether a text contains the user id as a separate number. */
const named = (column: string) => `${column} ~ ('(^|[^0-9])' || $2 || '([^0-9]|$)')`;

/**
 * Everything that identifies a user of a bot, ordered so that each step still finds its rows: rows that refer to sessions,
 * events and clicks come before these. A test compares the steps with the tables of the database.
 */
export const steps: readonly ErasureStep[] = [
  {
    table: "tracker_calls",
    becomes: "deleted; pending calls are not made",
    where: inSessions,
  },
  { table: "vast_ads", becomes: "deleted", where: inSessions },
  {
    table: "conversions",
    becomes: "kept without the advertiser's conversion id",
    where: `conversion_id <> '' and conversion_id !~ '^erased-' and click_id in (
      select 'clk_' || substr(event_id, 5) from events where ${ofUser} union all
      select click_id from withheld_clicks where ${ofUser} union all select click_id from ad_clicks where ${ofUser})`,
    set: "conversion_id = 'erased-' || gen_random_uuid()",
  },
  { table: "ad_clicks", becomes: "kept under a pseudonym", where: ofUser, set: "user_id = $3" },
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
    table: "events",
    becomes: "kept under a pseudonym, no longer sent or listed",
    where: ofUser,
    set: `user_id = $3, reference = null, is_erased = true, user_agent = null, address_hash = null, network_hash = null, body = jsonb_build_object('event', event,
      'event_id', event_id, 'bot_id', bot_id, 'user_tg_id', $3::text, 'code', code, 'occurred_at', occurred_at)::text`,
  },
  { table: "views_due", becomes: "deleted", where: inSessions },
  {
    table: "ad_sessions",
    becomes: "deleted: views under way",
    where: `state in ('opened', 'playing', 'watched') and ${ofUser}`,
  },
  {
    table: "ad_sessions",
    becomes: "kept under a pseudonym; held views are refused",
    where: ofUser,
    set: `user_id = $3, reference = '', version = version + 1, token_hash = sha256(gen_random_uuid()::text::bytea),
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
  { table: "ad_requests", becomes: "kept under a pseudonym", where: ofUser, set: "user_id = $3" },
  { table: "viewers", becomes: "deleted", where: ofUser },
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

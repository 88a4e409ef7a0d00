import type { DeliveryLog } from "./deliveries.ts";

/** Deliveries are sent only to active endpoints; a pending one must answer a test event 2xx first. */
export type EndpointState = "pending" | "active" | "disabled";

export type DisabledReason = "operator" | "gone" | "failing";

export type BreakerState = "closed" | "open" | "half-open";

/** Changes to an endpoint by the batch that recorded an attempt; null where nothing changed. */
export interface EndpointChange {
  botId: string;
  breaker: BreakerState | null;
  endpointState: EndpointState | null;
  disabledReason: DisabledReason | null;
  /** The mark of progress towards being disabled that was reached now. */
  warnedPercent: number | null;
}

/**
 * Updates the health of endpoints from one batch of attempts, as SQL: breaker, rest and progress towards being disabled. It
 * is part of the statement that records the attempts, so that all nodes see the same state and no crash separates the two.
 */

/** The breaker opens after this many failures in a row, or at this failed share of a minimum of attempts in five minutes. */
const FAILURES_IN_ROW = 10;
const WINDOW_SECONDS = 300;
const WINDOW_ATTEMPTS = 10;
const WINDOW_FAILED_SHARE = 0.7;
/** Between probes: 30 s, then 1, 2, 4, 5, 5 … minutes, plus up to 20 % jitter. */
const FIRST_PROBE_SECONDS = 30;
const LAST_PROBE_SECONDS = 300;
const SUCCESSES_TO_CLOSE = 3;

/** Only 410 answers for an hour, and for at least two events. */
const GONE_SECONDS = 3600;

/** No success for five days, with at least 20 failures spread over at least twelve hours. */
const FAILING_SECONDS = 5 * 86_400;
const FAILURES_TO_DISABLE = 20;
const SPREAD_SECONDS = 12 * 3600;

/** Progress of an endpoint towards being disabled, from 0 to 1: the minimum over the three conditions. */
export const disableProgress = `least(1,
    extract(epoch from now() - greatest(last_success_at, state_since)) / ${FAILING_SECONDS},
    failures_since_success / ${FAILURES_TO_DISABLE}.0,
    coalesce(extract(epoch from now() - failing_since) / ${SPREAD_SECONDS}, 0))`;

/** Characters of the last failure's answer, for lists. */
const LONGEST_ANSWER = 200;

/** Percentages of this progress at which the operator is warned. */
const MARKS = [50, 70, 90, 100];
const markOf = (progress: string) =>
  `case ${MARKS.toReversed()
    .map((mark) => `when ${progress} >= ${mark / 100} then ${mark}`)
    .join(" ")} else 0 end`;

/**
 * CTEs that update endpoints by the outcomes of a batch of attempts. `from` names a CTE with a row for each recorded attempt:
 * bot_id, event_id, url, is_success (null: the attempt shows nothing about the endpoint), status, error_class, response_text,
 * rest_seconds (null: none). `ended` is SQL for how many of a bot's rows were open claims. The CTE `endpoint_changes` has a
 * row for each endpoint whose breaker or state changed, or that reached the next mark of its progress towards being disabled:
 * bot_id, breaker, endpoint_state, disabled_reason, warned_percent (null unless warned now); null where nothing changed.
 *
 * Attempts at an address that the bot has since changed end, but do not affect the health of the new one. The rows are
 * locked in key order, so that two batches cannot deadlock.
 */
export function endpointHealth({ from, ended }: { from: string; ended: string }): string {
  return `
    tally as (
      select bot_id, (${ended})::integer as number, ended.url,
        count(*) filter (where is_success)::integer as successes,
        count(*) filter (where not is_success)::integer as failures,
        max(rest_seconds) filter (where is_of_address) as rest_seconds,
        bool_and(status is not distinct from 410) filter (where is_success is not null) as is_gone_only,
        min(event_id) filter (where is_of_address) as first_event_id,
        max(event_id) filter (where is_of_address) as last_event_id,
        (array_agg(status) filter (where not is_success))[1] as status,
        (array_agg(error_class) filter (where not is_success))[1] as error_class,
        (array_agg(left(response_text, ${LONGEST_ANSWER})) filter (where not is_success))[1] as answer
      from (
        select attempts.bot_id, event_id, endpoint.url, status, error_class, response_text, rest_seconds,
          attempts.url = endpoint.url as is_of_address, case when attempts.url = endpoint.url then is_success end as is_success
        from ${from} as attempts
        cross join lateral (select url from endpoints where endpoints.bot_id = attempts.bot_id limit 1) as endpoint
      ) as ended
      group by bot_id, ended.url
    ),
    -- The address may have changed since it was read: then the attempts do not affect the endpoint's health.
    locked as (
      select endpoints.*, number, is_current, first_event_id, last_event_id, status, error_class, answer,
        case when is_current then successes else 0 end as successes,
        case when is_current then failures else 0 end as failures,
        case when is_current then tally.rest_seconds end as rest_seconds,
        case when is_current then tally.is_gone_only end as is_gone_only
      from (select * from tally order by bot_id) as tally join endpoints using (bot_id)
      cross join lateral (select endpoints.url = tally.url as is_current) as address
      order by endpoints.bot_id for update of endpoints
    ),
    counted as (
      select locked.bot_id, number, state, state_since, disabled_reason, warned_percent, rest_until,
        breaker, probe_at, probe_failures, successes, failures, rest_seconds,
        case when successes > 0 then 0 else failures_in_row + failures end as failures_in_row,
        case when breaker = 'closed' then 0 else probe_successes + successes end as probe_successes,
        case when is_new_window then now() else window_started_at end as window_started_at,
        case when is_new_window then 0 else window_attempts end + successes + failures as window_attempts,
        case when is_new_window then 0 else window_failures end + failures as window_failures,
        case when successes > 0 then now() else last_success_at end as last_success_at,
        case when failures > 0 then now() else last_failure_at end as last_failure_at,
        case when successes > 0 then null when failures > 0 then coalesce(failing_since, now()) else failing_since end
          as failing_since,
        case when successes > 0 then 0 else failures_since_success + failures end as failures_since_success,
        case when is_gone_only then coalesce(gone_since, now()) when is_gone_only is null then gone_since end as gone_since,
        case when is_gone_only then coalesce(gone_event_id, first_event_id) when is_gone_only is null then gone_event_id end
          as gone_event_id,
        case when is_gone_only is null then is_gone_for_several
          else is_gone_only and (is_gone_for_several or first_event_id <> last_event_id
            or coalesce(gone_event_id <> last_event_id, false)) end as is_gone_for_several,
        case when failures > 0 then status else last_status end as last_status,
        case when failures > 0 then error_class else last_error_class end as last_error_class,
        case when failures > 0 then answer else last_answer end as last_answer
      from locked cross join lateral (select window_started_at < now() - interval '${WINDOW_SECONDS} seconds' as is_new_window) as age
    ),
    judged as (
      select counted.*,
        failures > 0 and (
          breaker = 'closed' and (
            failures_in_row >= ${FAILURES_IN_ROW}
            or window_attempts >= ${WINDOW_ATTEMPTS} and window_failures >= ${WINDOW_FAILED_SHARE} * window_attempts
          )
          -- In the half-open state only the probe was in flight.
          or breaker = 'half-open'
        ) as opens,
        breaker <> 'closed' and failures = 0 and probe_successes >= ${SUCCESSES_TO_CLOSE} as closes,
        case when failures > 0 then ${markOf(disableProgress)} when successes > 0 then 0 else warned_percent end as mark,
        case when state = 'active' and failures > 0 then
          case when is_gone_for_several and gone_since <= now() - interval '${GONE_SECONDS} seconds' then 'gone'
            when ${disableProgress} >= 1 then 'failing' end
        end as disable_reason
      from counted
    ),
    updated as (
      update endpoints set
        ended = endpoints.ended + number,
        state = case when disable_reason is null then judged.state else 'disabled' end,
        state_since = case when disable_reason is null then judged.state_since else now() end,
        disabled_reason = coalesce(disable_reason, judged.disabled_reason),
        warned_percent = mark,
        rest_until = greatest(judged.rest_until, now() + make_interval(secs => rest_seconds)),
        breaker = case when opens then 'open' when closes then 'closed' else judged.breaker end,
        probe_at = case when opens then now() + ${nextProbe("judged.probe_failures")} else judged.probe_at end,
        probe_failures = case when opens then judged.probe_failures + 1 when closes then 0 else judged.probe_failures end,
        probe_successes = case when opens or closes then 0 else judged.probe_successes end,
        failures_in_row = judged.failures_in_row,
        window_started_at = judged.window_started_at,
        -- Attempts counted before the breaker closed must not open it again immediately.
        window_attempts = case when closes then 0 else judged.window_attempts end,
        window_failures = case when closes then 0 else judged.window_failures end,
        last_success_at = judged.last_success_at,
        last_failure_at = judged.last_failure_at,
        failing_since = judged.failing_since,
        failures_since_success = judged.failures_since_success,
        gone_since = judged.gone_since,
        gone_event_id = judged.gone_event_id,
        is_gone_for_several = judged.is_gone_for_several,
        last_status = judged.last_status,
        last_error_class = judged.last_error_class,
        last_answer = judged.last_answer
      from judged where endpoints.bot_id = judged.bot_id
      returning endpoints.bot_id,
        nullif(endpoints.breaker, judged.breaker) as breaker,
        nullif(endpoints.state, judged.state) as endpoint_state,
        disable_reason as disabled_reason,
        case when endpoints.warned_percent > judged.warned_percent then endpoints.warned_percent end as warned_percent
    ),
    endpoint_changes as (
      select * from updated where num_nonnulls(breaker, endpoint_state, warned_percent) > 0
    )`;
}

function nextProbe(failedProbes: string): string {
  const seconds = `least(${LAST_PROBE_SECONDS}, ${FIRST_PROBE_SECONDS} * 2 ^ least(${failedProbes}, 10))`;
  return `make_interval(secs => ${seconds} * (1 + 0.2 * random()))`;
}

const disableCauses: Record<DisabledReason, string> = {
  gone: "it answered only 410 Gone for an hour",
  failing: "it accepted nothing for five days",
  operator: "an operator disabled it",
};

/** Logs the changes of an endpoint that an operator must know, each at its log level. */
export function logEndpointChange(log: DeliveryLog, change: EndpointChange): void {
  const { botId, breaker, endpointState, disabledReason, warnedPercent } = change;
  if (endpointState === "disabled" && disabledReason !== null) {
    const message = `an endpoint was disabled: ${disableCauses[disabledReason]}; its events are held, enable it with: endpoints enable ${botId}`;
    log.error({ botId, disabledReason }, message);
  } else if (warnedPercent !== null) {
    log.warn({ botId, warnedPercent }, `an endpoint's progress towards being disabled is ${warnedPercent} %`);
  }
  if (breaker === "open")
    log.warn({ botId }, "an endpoint is failing: its breaker is open, and one delivery at a time probes it");
  if (breaker === "closed") log.info({ botId }, "an endpoint has recovered: its breaker is closed");
}

/** Why nothing is sent to a bot's endpoint, even if due. `operator`, `gone` and `failing` are the reasons of a disabled one. */
export type BlockedReason = "no-endpoint" | "pending" | DisabledReason | "no-token";

/** SQL for whether the bot of `endpoints` has a token to sign with. */
export const hasTokens = `exists (
      select from bot_tokens where bot_tokens.bot_id = endpoints.bot_id
        and (bot_tokens.state in ('active', 'next') or bot_tokens.state = 'retiring' and revoke_at > now())
    )`;

/** SQL for the blocked reason, null without one. Expects `endpoints` as the right side of a left join. */
export const endpointBlockedReason = `case
    when endpoints.bot_id is null then 'no-endpoint'
    when endpoints.state = 'pending' then 'pending'
    when endpoints.state = 'disabled' then coalesce(endpoints.disabled_reason, 'operator')
    when not ${hasTokens} then 'no-token'
  end`;

/** SQL for when an unblocked endpoint's rest ends or its breaker allows a probe, whichever is later; else null. */
export const endpointNotBefore = `nullif(
    greatest(
      case when endpoints.rest_until > now() then endpoints.rest_until else '-infinity' end,
      case when endpoints.breaker <> 'closed' and endpoints.probe_at > now() then endpoints.probe_at else '-infinity' end
    ),
    '-infinity'
  )`;

import { setTimeout as sleep } from "node:timers/promises";
import { type CommitGroup, groupCommits } from "@intermission/postgres/group-commits";
import { type Database, type Runner, type Statement, statement } from "@intermission/postgres/open-database";
import { rowParameters } from "@intermission/postgres/row-parameters";
import { enqueueNotices } from "../notices/enqueue-notices.ts";
import type { AttemptOutcome, FinishedAttempt } from "./attempt-delivery.ts";
import { type ClaimedDelivery, releaseDeliveries } from "./claim-deliveries.ts";
import { type DecidedHealth, decidedRows, healthAssignments, readEndpointFacts } from "./endpoint-facts.ts";
import { type HealthChange, nextEndpointHealth, noticeOf } from "./endpoint-health.ts";

interface RecordAttemptDeps {
  database: Database;
  finishing: CommitGroup<FinishedAttempt, boolean>;
  log: { warn(facts: object, message: string): void; error(facts: object, message: string): void };
  /** The lease has run out, or a stop no longer waits. */
  isTooLate: () => boolean;
}

const AGAIN_MS = 500;

/** Records the outcome of a claim. Retries while the lease lasts: an unrecorded delivery would be sent again. */
export async function recordAttempt(
  deps: RecordAttemptDeps,
  claim: ClaimedDelivery,
  outcome: AttemptOutcome,
): Promise<void> {
  const { database, finishing, log, isTooLate } = deps;
  const { botId, eventId, attempt } = claim;
  while (true) {
    try {
      if (outcome.outcome === "not-made") return await releaseDeliveries(database, [claim], outcome);
      const isOurs = await finishing.submit(outcome.finished);
      const { state, status, errorClass } = outcome.finished;
      if (!isOurs) log.warn({ botId, eventId, attempt }, "an attempt ended after another claim of its delivery");
      else if (state === "failed" || state === "unknown") {
        log.warn(
          { botId, eventId, attempt, state, status, errorClass },
          "a webhook will not be sent again automatically",
        );
      }
      return;
    } catch (error) {
      if (isTooLate()) {
        return log.error({ err: error, botId, eventId }, "an attempt could not be recorded; its lease will run out");
      }
      await sleep(AGAIN_MS);
    }
  }
}

const finishedRows = rowParameters({
  bot_id: "text",
  event_id: "text",
  fence: "bigint",
  attempt: "integer",
  is_replay: "boolean",
  state: "text",
  end_reason: "text",
  delay_seconds: "double precision",
  is_success: "boolean",
  backoff_seconds: "double precision",
  started_at: "timestamptz",
  url: "text",
  address: "text",
  status: "integer",
  error_class: "text",
  dns_ms: "integer",
  tcp_ms: "integer",
  tls_ms: "integer",
  first_byte_ms: "integer",
  total_ms: "integer",
  response_text: "text",
});

function rowOf(finished: FinishedAttempt): Parameters<typeof finishedRows.values>[0][number] {
  const { botId, eventId, fence, attempt, isReplay, state, endReason, delaySeconds, isSuccess, backoffSeconds } =
    finished;
  const { startedAt, url, address, status, errorClass, dnsMs, tcpMs, tlsMs, firstByteMs, totalMs } = finished;
  return {
    bot_id: botId,
    event_id: eventId,
    fence,
    attempt,
    is_replay: isReplay,
    state,
    end_reason: endReason,
    delay_seconds: delaySeconds,
    is_success: isSuccess,
    backoff_seconds: backoffSeconds,
    started_at: startedAt,
    url,
    address,
    status,
    error_class: errorClass,
    dns_ms: dnsMs,
    tcp_ms: tcpMs,
    tls_ms: tlsMs,
    first_byte_ms: firstByteMs,
    total_ms: totalMs,
    response_text: finished.responseText,
  };
}

/** A replay that did not deliver: the delivery returns to its state before the replay. */
const isPutBack = "(resume_state is not null and finished.state <> 'delivered')";
const unlessPutBack = (before: string, now: string) => `case when ${isPutBack} then ${before} else ${now} end`;
const newState = unlessPutBack("resume_state", "finished.state");
const newDueAt = "case finished.state when 'waiting' then now() + make_interval(secs => delay_seconds) else due_at end";

const loggedColumns = `bot_id, event_id, attempt, started_at, url, address, status, error_class,
      dns_ms, tcp_ms, tls_ms, first_byte_ms, total_ms, response_text, next_at, is_replay`;

// Only the fence decides: the last claim may finish, even after its lease ran out, as long as there is no newer claim.
const recordText = (condition: string) => `with finished as (${finishedRows.table}),
  moved as (
    update deliveries set
      state = ${newState},
      attempts = attempt, lease_until = null, recorded_fence = finished.fence,
      resume_state = null, resume_due_at = null, is_bulk = false,
      schedule_step = ${unlessPutBack("schedule_step", "schedule_step + (finished.state = 'waiting')::integer")},
      due_at = ${unlessPutBack("coalesce(resume_due_at, due_at)", newDueAt)},
      finished_at = case ${newState} when 'waiting' then null else now() end,
      end_reason = ${unlessPutBack("deliveries.end_reason", "finished.end_reason")}
    from finished
    where deliveries.bot_id = finished.bot_id and deliveries.event_id = finished.event_id and ${condition}
    returning finished.*, case deliveries.state when 'waiting' then deliveries.due_at end as next_at
  ),
  logged as (
    insert into delivery_attempts (${loggedColumns}) select ${loggedColumns} from moved on conflict do nothing
  )`;

const decided = decidedRows(finishedRows.parameters.length);

/*
 * Writes the health that was decided for an endpoint if nothing changed it meanwhile, and if all attempts that it was decided
 * from are recorded now. `ended` is SQL for how many of a bot's rows were open claims: that is always counted. The rows are
 * locked in the order of the bots, so that two batches do not deadlock.
 */
const writeHealth = (ended: string) => `decided as (${decided.table}),
  tally as (select bot_id, count(*)::integer as number from moved group by bot_id order by bot_id),
  locked as (
    select endpoints.bot_id, tally.number,
      coalesce(endpoints.version = decided.version and tally.number = decided.number, false) as is_current
    from tally join endpoints using (bot_id) left join decided using (bot_id)
    order by endpoints.bot_id for update of endpoints
  ),
  updated as (
    update endpoints set ended = endpoints.ended + ${ended},
      ${healthAssignments("is_current")}
    from locked left join decided using (bot_id) where endpoints.bot_id = locked.bot_id
    returning endpoints.bot_id, case when is_current then decided.notice end as health, decided.notice_reason as reason,
      url, endpoints.last_status as status, endpoints.last_error_class as error_class
  ),
  ${enqueueNotices("updated")}`;

// `union all`, not a join: the planner cannot estimate the sizes of the two, so a join would compare every pair of rows.
const answer = `select bot_id as "botId", event_id as "eventId", fence, true as "isCurrent" from moved
  union all
  select bot_id, null, null, is_current from locked`;

/** A recorded attempt, or an endpoint (without an event) and whether its decided health was written. */
interface Recorded {
  botId: string;
  eventId: string | null;
  fence: number | null;
  isCurrent: boolean;
}

// Not `state = 'sending'`: the planner would rate the index of leases like the primary key and read all of it for each row.
const record = statement<Recorded>(
  "deliveries.finish",
  `${recordText("deliveries.fence = finished.fence and deliveries.lease_until is not null")},
  ${writeHealth("locked.number")}
  ${answer}`,
);

/*
 * Records attempts whose delivery was taken back after its lease, if there is no newer claim. Also returns those that the
 * same claim has already recorded by a commit of unknown outcome: they change nothing and still count as recorded.
 */
const recordLate = statement<Recorded>(
  "deliveries.finish-late",
  `${recordText("deliveries.fence = finished.fence and deliveries.lease_until is null and recorded_fence < finished.fence")},
  ${writeHealth("0")}
  ${answer}
  union all
  select bot_id, event_id, fence, true from finished join deliveries using (bot_id, event_id, fence)
  where recorded_fence = fence`,
);

/** For endpoints that changed while their health was decided: decided again under their locks. */
const decidedAgain = decidedRows(0);
const writeAgain = statement<never>(
  "endpoints.write-health",
  `with decided as (${decidedAgain.table}),
  updated as (
    update endpoints set ${healthAssignments("true")}
    from decided where endpoints.bot_id = decided.bot_id
    returning endpoints.bot_id, decided.notice as health, decided.notice_reason as reason, url,
      endpoints.last_status as status, endpoints.last_error_class as error_class
  ),
  ${enqueueNotices("updated")}
  select bot_id from updated`,
);

type OnChange = (botId: string, change: HealthChange) => void;

/**
 * Records finished attempts, their log rows and their effect on the health of endpoints, many in one commit: reads the
 * endpoints, decides their health, and writes it with the attempts. Returns false if a newer claim has the delivery. Calls
 * `onChange` for what an operator must know.
 */
export function finishDeliveries(database: Database, onChange: OnChange): CommitGroup<FinishedAttempt, boolean> {
  return groupCommits<FinishedAttempt, boolean>({
    name: "delivery attempts",
    // A retried attempt may be beside its first one: it counts once.
    mergeBy: keyOf,
    async run(batch) {
      const recorded = await recordBatch(database, { batch, how: record, onChange });
      const others = recorded.size === batch.length ? [] : batch.filter((finished) => !recorded.has(keyOf(finished)));
      if (others.length > 0) {
        for (const key of await recordBatch(database, { batch: others, how: recordLate, onChange })) recorded.add(key);
      }
      return batch.map((finished) => recorded.has(keyOf(finished)));
    },
  });
}

/** Returns the keys of the attempts that count as recorded. */
async function recordBatch(
  database: Database,
  { batch, how, onChange }: { batch: readonly FinishedAttempt[]; how: Statement<Recorded>; onChange: OnChange },
): Promise<Set<string>> {
  const decisions = await decideHealth(database, { attempts: batch, locking: "unlocked" });
  const values = [...finishedRows.values(batch.map(rowOf)), ...decided.values(decisions)];
  const rows = await database.run(how, values);
  const recorded = new Set(rows.filter(({ eventId }) => eventId !== null).map(keyOf));
  const isCurrent = new Map(rows.filter(({ eventId }) => eventId === null).map((row) => [row.botId, row.isCurrent]));
  const written = decisions.filter(({ botId }) => isCurrent.get(botId));
  const again = batch.filter((finished) => isCurrent.get(finished.botId) === false && recorded.has(keyOf(finished)));
  if (again.length > 0) {
    written.push(
      ...(await database.transaction(async (tx) => {
        const decisions = await decideHealth(tx, { attempts: again, locking: "locked" });
        await tx.run(writeAgain, decidedAgain.values(decisions));
        return decisions;
      })),
    );
  }
  for (const { botId, changes } of written) for (const change of changes) onChange(botId, change);
  return recorded;
}

/** Attempts at an address that the bot has since changed show nothing about the new one. */
async function decideHealth(
  runner: Runner,
  { attempts, locking }: { attempts: readonly FinishedAttempt[]; locking: "locked" | "unlocked" },
): Promise<(DecidedHealth & { changes: HealthChange[] })[]> {
  const ofBots = Map.groupBy(attempts, ({ botId }) => botId);
  const facts = await readEndpointFacts(runner, [...ofBots.keys()], { locking });
  return [...facts.values()].map(({ botId, url, version, now, health: before }) => {
    const ofBot = ofBots.get(botId) ?? [];
    const ofAddress = ofBot.filter((attempt) => attempt.url === url);
    const { health, changes } = nextEndpointHealth(before, ofAddress, { now, jitter: Math.random() });
    return { botId, version, number: ofBot.length, health, notice: noticeOf(changes), changes };
  });
}

function keyOf({ botId, eventId, fence }: Pick<Recorded, "botId" | "eventId" | "fence">): string {
  return `${botId} ${eventId} ${fence}`;
}

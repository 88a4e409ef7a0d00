import { setTimeout as sleep } from "node:timers/promises";
import { type CommitGroup, groupCommits } from "@intermission/postgres/group-commits";
import { type Database, statement } from "@intermission/postgres/open-database";
import { rowParameters } from "@intermission/postgres/row-parameters";
import type { AttemptOutcome, FinishedAttempt } from "./attempt.ts";
import { type ClaimedDelivery, releaseDeliveries } from "./claim.ts";
import { type EndpointChange, endpointHealth } from "./endpoint-health.ts";

export interface RecordAttemptDeps {
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
  ...{ bot_id: "text", event_id: "text", fence: "bigint", attempt: "integer", is_replay: "boolean", state: "text" },
  ...{ end_reason: "text", delay_seconds: "double precision", is_success: "boolean", rest_seconds: "double precision" },
  ...{ started_at: "timestamptz", url: "text", address: "text", status: "integer", error_class: "text" },
  ...{ dns_ms: "integer", tcp_ms: "integer", tls_ms: "integer", first_byte_ms: "integer", total_ms: "integer" },
  response_text: "text",
});

function rowOf(finished: FinishedAttempt): Parameters<typeof finishedRows.values>[0][number] {
  const { botId, eventId, fence, attempt, isReplay, state, endReason, delaySeconds, isSuccess, restSeconds } = finished;
  const { startedAt, url, address, status, errorClass, dnsMs, tcpMs, tlsMs, firstByteMs, totalMs } = finished;
  return {
    ...{ bot_id: botId, event_id: eventId, fence, attempt, is_replay: isReplay, state, end_reason: endReason },
    ...{ delay_seconds: delaySeconds, is_success: isSuccess, rest_seconds: restSeconds, started_at: startedAt },
    ...{ url, address, status, error_class: errorClass, dns_ms: rounded(dnsMs), tcp_ms: rounded(tcpMs) },
    ...{ tls_ms: rounded(tlsMs), first_byte_ms: rounded(firstByteMs), total_ms: rounded(totalMs) },
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

// `union all`, not a join: the planner cannot estimate the sizes of the two, so a join would compare every pair of rows.
const answer = `select bot_id as "botId", event_id as "eventId", fence,
    null as breaker, null as "endpointState", null as "disabledReason", null::integer as "warnedPercent" from moved
  union all
  select bot_id, null, null, breaker, endpoint_state, disabled_reason, warned_percent from endpoint_changes`;

/** A recorded attempt, or a changed endpoint, which has no event. */
type Recorded = EndpointChange & { eventId: string | null; fence: number | null };

// Not `state = 'sending'`: the planner would rate the index of leases like the primary key and read all of it for each row.
const record = statement<Recorded>(
  "deliveries.finish",
  `${recordText("deliveries.fence = finished.fence and deliveries.lease_until is not null")},
  ${endpointHealth({ from: "moved", ended: "count(*)" })}
  ${answer}`,
);

/*
 * Records attempts whose delivery was taken back after its lease, if there is no newer claim. Also returns those that the
 * same claim has already recorded by a commit of unknown outcome: they change nothing and still count as recorded.
 */
const recordLate = statement<Recorded>(
  "deliveries.finish-late",
  `${recordText("deliveries.fence = finished.fence and deliveries.lease_until is null and recorded_fence < finished.fence")},
  ${endpointHealth({ from: "moved", ended: "0" })}
  ${answer}
  union all
  select bot_id, event_id, fence, null, null, null, null from finished join deliveries using (bot_id, event_id, fence)
  where recorded_fence = fence`,
);

/**
 * Records finished attempts, their log rows and their effect on endpoint health, many in one commit. Returns false if a
 * newer claim has the delivery. Calls `onChange` for each endpoint whose breaker, state or warning changed.
 */
export function finishDeliveries(
  database: Database,
  onChange: (change: EndpointChange) => void,
): CommitGroup<FinishedAttempt, boolean> {
  return groupCommits<FinishedAttempt, boolean>({
    orderBy: keyOf,
    async run(batch) {
      const valuesOf = (some: readonly FinishedAttempt[]) => finishedRows.values(some.map(rowOf));
      const rows = await database.run(record, valuesOf(batch));
      const recorded = new Set(rows.filter(({ eventId }) => eventId !== null).map(keyOf));
      const others = recorded.size === batch.length ? [] : batch.filter((finished) => !recorded.has(keyOf(finished)));
      if (others.length > 0) {
        const late = await database.run(recordLate, valuesOf(others));
        for (const row of late) recorded.add(keyOf(row));
        rows.push(...late);
      }
      for (const row of rows) if (row.eventId === null) onChange(row);
      return batch.map((finished) => recorded.has(keyOf(finished)));
    },
  });
}

function keyOf({ botId, eventId, fence }: Pick<Recorded, "botId" | "eventId" | "fence">): string {
  return `${botId} ${eventId} ${fence}`;
}

function rounded(milliseconds: number | null): number | null {
  return milliseconds === null ? null : Math.round(milliseconds);
}

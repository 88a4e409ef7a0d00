import { type Runner, statement } from "@intermission/postgres/open-database";
import type { EventLine, Payout } from "./schema.ts";

/** PostgreSQL has no year 0. What claims to have been earned before this counts for the day it was booked on. */
const earliestMoment = "2000";

export interface BookedLine {
  event_id: string;
  amount: number;
  reason: string | null;
}

/**
 * Receipt, code, daily count, balance and ledger entry in one statement, so in one commit.
 *
 * Each decision stands on a row that this statement has locked, and reads it as the lock found it: `on conflict` sees the
 * newest version of a row, whatever the statement's snapshot says. So two nodes with two events of one code, or of one
 * user at his cap, cannot both pay. Every node locks in one order, table after table and inside a table by key: each step
 * sorts what the step before has returned, and so waits for its end.
 *
 * No table is joined, only what the steps return: a plan that was made while the tables were empty stays good (a join with
 * codes cost three quarters of the throughput after 60,000 events).
 */
const bookLines = statement<BookedLine>(
  "book-events",
  `with arrived as materialized (
  select distinct on (event_id) *
  from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::timestamptz[], $8::boolean[],
              $9::text[], $10::text[], $11::boolean[]) with ordinality
    as line(event_id, event, user_id, code, reference, occurred_at, is_test, raw_body, signature_header, is_two_field,
            position)
  order by event_id, position
), received as (
  insert into receipts (bot_id, event_id, event, user_id, raw_body, signature_header, is_two_field)
  select $1, event_id, event, user_id, raw_body, signature_header, is_two_field from arrived order by event_id
  on conflict (bot_id, event_id) do nothing
  returning event_id
), fresh as materialized (
  select arrived.*, (coalesce(occurred_at, now()) at time zone 'UTC')::date as day,
    case event when 'rewarded' then $12::bigint else $13::bigint end as worth
  from arrived join received using (event_id)
), settled as (
  insert into codes as kept (bot_id, code, user_id, reference, rewarded_by, direct_link_by, settled_by)
  select $1, code, min(user_id), (array_agg(reference order by position))[1],
    (array_agg(event_id order by position) filter (where event = 'rewarded'))[1],
    (array_agg(event_id order by position) filter (where event = 'direct_link'))[1],
    (array_agg(event_id order by position) filter (where worth > 0))[1]
  from fresh where code is not null and not is_test
  group by code order by code
  on conflict (bot_id, code) do update set
    rewarded_by = coalesce(kept.rewarded_by, excluded.rewarded_by),
    direct_link_by = coalesce(kept.direct_link_by, excluded.direct_link_by),
    settled_by = coalesce(kept.settled_by, excluded.settled_by)
  where kept.user_id = excluded.user_id
  returning code, user_id, reference, rewarded_by, direct_link_by, settled_by
), judged as materialized (
  select event_id, event, fresh.user_id, fresh.code, coalesce(fresh.reference, settled.reference) as reference,
    day, worth, position,
    case
      when is_test then 'test'
      when fresh.code is not null and settled.code is null then 'code-of-another-user'
      when worth = 0 then 'no-reward'
      when $14::boolean and settled_by <> event_id then 'code-already-paid'
      when case event when 'rewarded' then rewarded_by else direct_link_by end <> event_id then 'event-already-booked'
    end as refusal
  from fresh left join settled on settled.code = fresh.code and settled.user_id = fresh.user_id
), counted as (
  insert into daily_rewards as kept (bot_id, user_id, day, counted)
  select $1, user_id, day, count(*) from judged where refusal is null and $15::integer is not null
  group by user_id, day order by user_id, day
  on conflict (bot_id, user_id, day) do update set counted = kept.counted + excluded.counted
  returning user_id, day, counted
), numbered as (
  select judged.*, row_number() over (payable order by position) as number, count(*) over payable as together
  from judged window payable as (partition by user_id, day, refusal is null)
), priced as materialized (
  select numbered.*,
    coalesce(refusal, case when counted - together + number > $15::integer then 'daily-cap' end) as reason
  from numbered left join counted using (user_id, day)
), credited as (
  insert into balances as kept (bot_id, user_id, balance)
  select $1, user_id, sum(worth) from priced where reason is null group by user_id order by user_id
  on conflict (bot_id, user_id) do update set balance = kept.balance + excluded.balance
  returning user_id, balance
)
insert into ledger_entries (bot_id, user_id, event, code, reference, event_id, amount, reason, balance_after)
select $1, user_id, event, code, reference, event_id, case when reason is null then worth else 0 end, reason,
  case when reason is null then balance - coalesce(sum(worth) filter (where reason is null) over later, 0) end
from priced left join credited using (user_id)
window later as (partition by user_id order by position rows between 1 following and unbounded following)
order by position
returning event_id, amount, reason`,
);

/** PostgreSQL's text cannot hold U+0000; such a line would fail again and again. */
export function isStorable({ eventId, code, reference }: Pick<EventLine, "eventId" | "code" | "reference">): boolean {
  return ![eventId, code, reference].some((text) => text?.includes("\0"));
}

/** Books what is new among the lines and returns those entries; lines that were booked before are left out. */
export async function bookEvents(
  runner: Pick<Runner<unknown>, "run">,
  botId: string,
  payout: Payout,
  lines: readonly EventLine[],
): Promise<BookedLine[]> {
  const [together, later] = splitByOwner(lines);
  const booked = await runLines(runner, botId, payout, together);
  return later.length === 0 ? booked : [...booked, ...(await bookEvents(runner, botId, payout, later))];
}

/** The statement takes one user per code. Only a service that errs names two, and then the right one must not suffer. */
function splitByOwner(lines: readonly EventLine[]): [EventLine[], EventLine[]] {
  const owners = new Map<string, string>();
  const together: EventLine[] = [];
  const later: EventLine[] = [];
  for (const line of lines) {
    const owner = line.code === null ? line.userId : (owners.get(line.code) ?? line.userId);
    if (line.code !== null) owners.set(line.code, owner);
    (owner === line.userId ? together : later).push(line);
  }
  return [together, later];
}

function runLines(
  runner: Pick<Runner<unknown>, "run">,
  botId: string,
  payout: Payout,
  lines: readonly EventLine[],
): Promise<BookedLine[]> {
  return runner.run(bookLines, [
    botId,
    lines.map((line) => line.eventId),
    lines.map((line) => line.event),
    lines.map((line) => line.userId),
    lines.map((line) => line.code),
    lines.map((line) => line.reference),
    lines.map(({ occurredAt }) => (occurredAt !== null && occurredAt >= earliestMoment ? occurredAt : null)),
    lines.map((line) => line.isTest),
    lines.map((line) => line.rawBody),
    lines.map((line) => line.signatureHeader),
    lines.map((line) => line.isTwoField),
    payout.rewarded,
    payout.directLink,
    payout.perCode === "once",
    payout.dailyCap ?? null,
  ]);
}

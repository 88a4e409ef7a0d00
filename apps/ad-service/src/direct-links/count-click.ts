import { hash } from "node:crypto";
import { groupCommits, OverloadedError } from "@intermission/postgres/group-commits";
import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase, AdTransaction } from "../ad-database.ts";
import type { DeliveryMode } from "../bots/schema.ts";
import { admitEarnings } from "../viewers/admit-earnings.ts";
import type { ClaimedEvent, Deliveries, MadeEvents } from "../webhook-delivery/deliveries.ts";
import { enqueueWebhook } from "../webhook-delivery/enqueue-webhook.ts";
import { limitsInSql } from "./address-limits.ts";
import { LEAST_TAPS, MOST_USERS_OF_AGENT, suspicionsInSql } from "./click-signals.ts";

/** A person's click that passed every check; the statement passes them again, on what is committed by then. */
export interface CountableClick {
  botId: string;
  code: string;
  userId: string;
  reference: string | null;
  eventId: string;
  clickId: string;
  campaignId: string;
  userAgent: string;
  addressHash: Buffer;
  networkHash: Buffer;
  /** Of the day before. */
  addressHashBefore: Buffer;
  /** The button of our own page was tapped. */
  isTap: boolean;
  occurredAt: Date;
  body: string;
  /** Of the same user on other codes: the daily cap leaves room for them. */
  unfinishedViews: number;
  /** Of one of the bot's testers: free of charge, and out of the statistics. */
  isTest: boolean;
  /** What looked wrong when the link was read: bits of `clickSuspicions`. */
  signals: number;
}

const columns: readonly (readonly [name: string, type: string, value: (click: CountableClick) => unknown])[] = [
  ["bot_id", "text", ({ botId }) => botId],
  ["code", "text", ({ code }) => code],
  ["user_id", "text", ({ userId }) => userId],
  ["reference", "text", ({ reference }) => reference],
  ["event_id", "text", ({ eventId }) => eventId],
  ["click_id", "text", ({ clickId }) => clickId],
  ["campaign_id", "text", ({ campaignId }) => campaignId],
  ["user_agent", "text", ({ userAgent }) => userAgent],
  ["address_hash", "bytea", ({ addressHash }) => addressHash],
  ["occurred_at", "timestamptz", ({ occurredAt }) => occurredAt],
  ["body", "text", ({ body }) => body],
  ["unfinished_views", "integer", ({ unfinishedViews }) => unfinishedViews],
  ["is_test", "boolean", ({ isTest }) => isTest],
  ["network_hash", "bytea", ({ networkHash }) => networkHash],
  ["signals", "integer", ({ signals }) => signals],
];

/** What the addresses are asked: all but testers' clicks, in the order of the hashes. */
const askedOfAddresses: readonly (readonly [name: string, type: string, value: (asked: Positioned) => unknown])[] = [
  ["position", "integer", ({ position }) => position],
  ["hash", "bytea", ({ click }) => click.addressHash],
  ["hash_before", "bytea", ({ click }) => click.addressHashBefore],
  ["moment", "timestamptz", ({ click }) => click.occurredAt],
  ["is_tap", "boolean", ({ click }) => click.isTap],
  ["agent", "text", ({ click }) => shortHash(click.addressHash, click.userAgent)],
  ["user", "text", ({ click }) => shortHash(click.addressHash, `${click.botId} ${click.userId}`)],
];

/** A click that passed, or an event that this node claimed (with its address). */
interface Counted {
  eventId: string;
  isMade: boolean | null;
  url: string | null;
  deliveryMode: DeliveryMode | null;
}

interface Positioned {
  position: number;
  click: CountableClick;
}

/*
 * Each gate waits for a parallel statement and then judges what that one left. The address comes first: it admits as many
 * clicks as its limits permit and refuses the others by themselves. Then the events' unique key lets a code earn its click
 * once, and the upsert of the viewer's row lets no two codes of one user, followed at once on two nodes, through the cooldown
 * or the cap. Who passed the address and not those two must leave no trace: the last line then divides by zero, the batch is
 * undone, and its clicks are run one by one. That takes a race, since the read before saw both open.
 *
 * A click that looks wrong earns where the bot's setting says so. Else it is withheld: kept as held or refused, once for its
 * code, without event and charge; it has used up its address's and its viewer's turn all the same.
 */
const slots = `$${columns.length + askedOfAddresses.length + 2}::integer`;
const count = statement<Counted>(
  "direct-links.count",
  `with addresses as (
    select admit_clicks(${askedOfAddresses.map(([, type], index) => `$${columns.length + index + 1}::${type}[]`).join(", ")},
      $${columns.length + askedOfAddresses.length + 1}::integer, ${limitsInSql.clicks}, ${limitsInSql.seconds},
      ${MOST_USERS_OF_AGENT}, ${LEAST_TAPS}) as verdicts
  ),
  judged as (
    -- A tester's click is not asked for: it passes, and nothing is said of it.
    select *, coalesce((select verdicts from addresses)[position], 1) as admission
    from unnest(${columns.map(([, type], index) => `$${index + 1}::${type}[]`).join(", ")})
      with ordinality as judged(${columns.map(([name]) => name).join(", ")}, position)
  ),
  -- Booleans, and no row left out: of anything else the planner expects a single row, and joins by comparing all with all.
  candidates as (
    select *, fate = 'pay' as is_paid, fate in ('hold', 'refuse') as is_withheld
    from (
      select *, case when is_test then '{}' else ${suspicionsInSql("(admission | signals)")} end as suspicions,
        case when admission = 0 then 'none' when is_test or admission | signals = 1 then 'pay'
          else (select suspicious_clicks from bots where bots.bot_id = judged.bot_id) end as fate
      from judged
    ) as judged
  ),
  earned as (
    select bot_id, event_id, 'direct_link'::text as event, user_id, code, reference, is_test, campaign_id,
      null::text as creative_id,
      case when not is_test then (
        select click_price_micros from campaigns where campaigns.campaign_id = candidates.campaign_id
      ) end as price_micros,
      occurred_at, body, user_agent, address_hash, case when not is_test then network_hash end as network_hash,
      nullif(suspicions, '{}') as suspicions
    from candidates where is_paid
  ),
  ${enqueueWebhook({ from: "earned", isClick: true, slots })},
  withheld as (
    insert into withheld_clicks (bot_id, click_id, code, user_id, campaign_id, outcome, user_agent, address_hash,
      network_hash, suspicions, occurred_at)
    select bot_id, click_id, code, user_id, campaign_id, case fate when 'hold' then 'held' else 'refused' end, user_agent,
      address_hash, network_hash, suspicions, occurred_at
    -- Row by row: as a condition of existence all clicks there ever were would be read for it.
    from candidates where is_withheld and (
      select event_id from events where events.bot_id = candidates.bot_id and events.code = candidates.code
        and events.event = 'direct_link' limit 1
    ) is null
    order by bot_id, code
    on conflict (bot_id, code) where outcome in ('held', 'refused', 'released') do nothing
    returning bot_id, click_id, code, user_id, outcome, occurred_at
  ),
  withheld_counted as (
    insert into click_refusals (bot_id, code, reason, hour, count)
    select bot_id, code, case outcome when 'held' then 'held' else 'suspicious' end,
      date_trunc('hour', occurred_at, 'UTC'), 1
    from withheld order by 4, 1, 2, 3
    on conflict (bot_id, code, reason, hour) do update set count = click_refusals.count + 1, is_summed = false
  ),
  codes_withheld as (
    -- The user's next request gets another code.
    update current_codes set is_withheld = true
    from (
      select withheld.*, coalesce(reference, '') as reference from withheld join candidates using (bot_id, click_id) offset 0
    ) as looks_wrong
    where current_codes.bot_id = looks_wrong.bot_id and current_codes.user_id = looks_wrong.user_id
      and current_codes.reference = looks_wrong.reference and current_codes.code = looks_wrong.code
  ),
  turns as (
    select enqueued.bot_id, enqueued.user_id, enqueued.occurred_at, unfinished_views
    from enqueued join candidates using (bot_id, event_id)
    union all
    select withheld.bot_id, withheld.user_id, withheld.occurred_at, unfinished_views
    from withheld join candidates using (bot_id, click_id)
  ),
  admitted as (${admitEarnings({ from: "turns", reserved: "unfinished_views" })})
  -- Looked up in hashes: joins of CTEs compare each row with each (500 clicks took 240 ms instead of 60).
  select event_id as "eventId",
    1 / (
      (event_id in (select event_id from enqueued) or click_id in (select click_id from withheld))
      and (bot_id, user_id) in (select bot_id, user_id from admitted)
    )::integer as proof,
    event_id in (select event_id from enqueued) as "isMade", null as url, null as "deliveryMode"
  from candidates where is_paid or is_withheld
  union all
  select event_id, null, null, url, delivery_mode from claimed_events`,
);
const DIVISION_BY_ZERO = "22012";

export interface CountClickDeps {
  database: AdDatabase;
  deliveries: Deliveries;
  /** Counted clicks of one address on one day (UTC); undefined: as many as come. */
  mostDailyClicksPerAddress?: number | undefined;
}

/**
 * Counts clicks, many in one commit: click, charge, the limits of address and viewer, event and delivery together. Gives the
 * id of the event that was made, or would have been if the click had not been withheld; undefined where the click earned nothing after all, since others came first: of its code,
 * its viewer or its address. Clicks of one viewer that meet share one result, so one that finds another's event id in it has
 * lost, too. Whichever lost reads its link again, which tells why.
 */
export function clickCounter(deps: CountClickDeps): (click: CountableClick) => Promise<string | undefined> {
  const group = groupCommits<CountableClick, string | undefined>({
    maxInFlight: deps.database.kind === "embedded" ? 1 : 2,
    mergeBy: ({ botId, userId }) => `${botId} ${userId}`,
    run: (batch) => deps.deliveries.sendNew(batch.length, (slots) => countAll(deps.database, batch, deps, slots)),
  });
  return (click) => group.submit(click).catch(undefinedIfNotAdmitted);
}

/** Waiting for a campaign's last clicks on this node; beyond them a visitor is asked to come again. */
const MOST_IN_LINE = 500;

/**
 * Counts the last clicks before a campaign's limit, each by itself: `hasRoom` is asked in the transaction that counts it,
 * so that none is counted beyond. "full": nothing was counted. On this node they wait in line, since in the database they
 * would wait for one another too, each with a connection that others want.
 */
export function lastClickCounter(deps: CountClickDeps) {
  const lines = new Map<string, { length: number; last: Promise<unknown> }>();
  return async (
    click: CountableClick,
    hasRoom: (tx: AdTransaction) => Promise<boolean>,
  ): Promise<string | "full" | undefined> => {
    const { campaignId } = click;
    const line = lines.get(campaignId) ?? { length: 0, last: Promise.resolve() };
    if (line.length === MOST_IN_LINE) throw new OverloadedError(`${MOST_IN_LINE} clicks wait for one campaign`);
    lines.set(campaignId, line);
    line.length += 1;
    const counted = line.last.then(() => countLast(deps, click, hasRoom));
    line.last = counted.catch(() => {});
    try {
      return await counted;
    } finally {
      line.length -= 1;
      if (line.length === 0) lines.delete(campaignId);
    }
  };
}

async function countLast(
  deps: CountClickDeps,
  click: CountableClick,
  hasRoom: (tx: AdTransaction) => Promise<boolean>,
): Promise<string | "full" | undefined> {
  const counted = await deps.database
    .transaction(async (tx) => {
      if (!(await hasRoom(tx))) return "full";
      return (await countAll(tx, [click], deps, 0)).result[0];
    })
    .catch(undefinedIfNotAdmitted);
  deps.deliveries.wake();
  return counted;
}

/** The ids of the events of those that passed, in the order of the clicks. */
async function countAll(
  database: AdTransaction,
  clicks: readonly CountableClick[],
  { mostDailyClicksPerAddress = null }: { mostDailyClicksPerAddress?: number | null | undefined },
  slots: number,
): Promise<MadeEvents<(string | undefined)[]>> {
  const asked = clicks.map((click, index) => ({ click, position: index + 1 })).filter(({ click }) => !click.isTest);
  asked.sort(
    (a, b) =>
      a.click.addressHash.compare(b.click.addressHash) || a.click.occurredAt.getTime() - b.click.occurredAt.getTime(),
  );
  const rows = await database.run(count, [
    ...columns.map(([, , value]) => clicks.map(value)),
    ...askedOfAddresses.map(([, , value]) => asked.map(value)),
    mostDailyClicksPerAddress,
    slots,
  ]);
  const passed = new Set<string>();
  const clickOf = new Map(clicks.map((click) => [click.eventId, click]));
  const claimed: ClaimedEvent[] = [];
  for (const { eventId, url, deliveryMode } of rows) {
    const click = clickOf.get(eventId);
    if (url === null || deliveryMode === null) passed.add(eventId);
    else if (click) claimed.push({ botId: click.botId, eventId, body: click.body, url, deliveryMode });
  }
  return {
    result: clicks.map(({ eventId }) => (passed.has(eventId) ? eventId : undefined)),
    made: rows.filter(({ isMade }) => isMade).length,
    claimed,
  };
}

/** Of eight characters, and of no use on another day: the hash of the address changes. */
function shortHash(addressHash: Buffer, text: string): string {
  return hash("sha256", Buffer.concat([addressHash, Buffer.from(text)]), "base64url").slice(0, 8);
}

function undefinedIfNotAdmitted(error: unknown): undefined {
  if (error instanceof Error && "code" in error && error.code === DIVISION_BY_ZERO) return undefined;
  throw error;
}

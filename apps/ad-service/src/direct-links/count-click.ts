import { groupCommits, OverloadedError } from "@intermission/postgres/group-commits";
import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase, AdTransaction } from "../ad-database.ts";
import { addToCampaignDays } from "../campaigns/add-to-campaign-days.ts";
import { admitEarnings } from "../viewers/admit-earnings.ts";
import { enqueueWebhook } from "../webhook-delivery/enqueue-webhook.ts";

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
  occurredAt: Date;
  body: string;
  /** Of the same user on other codes: the daily cap leaves room for them. */
  unfinishedViews: number;
  /** Of one of the bot's testers: free of charge, and out of the statistics. */
  isTest: boolean;
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
];

/*
 * Both gates wait for a parallel statement and then judge what that one left: the events' unique key lets a code earn its
 * click once, and the upsert of the viewer's row lets no two codes of one user, followed at once on two nodes, through the
 * cooldown or the cap. Who passed the first and not the second must leave no trace: the last line then divides by zero,
 * the batch is undone, and its clicks are run one by one.
 */
const count = statement<{ eventId: string }>(
  "direct-links.count",
  `with candidates as (
    select * from unnest(${columns.map(([, type], index) => `$${index + 1}::${type}[]`).join(", ")})
      as candidates(${columns.map(([name]) => name).join(", ")})
  ),
  earned as (
    select bot_id, event_id, 'direct_link'::text as event, user_id, code, reference, is_test, occurred_at, body
    from candidates
  ),
  ${enqueueWebhook({ from: "earned" })},
  admissible as (
    select enqueued.bot_id, enqueued.user_id, enqueued.occurred_at, unfinished_views
    from enqueued join candidates using (bot_id, event_id)
  ),
  admitted as (${admitEarnings({ from: "admissible", reserved: "unfinished_views" })}),
  charged as (
    insert into charges (charge_id, campaign_id, bot_id, user_id, format, code, price_micros, occurred_at)
    select event_id, campaign_id, bot_id, enqueued.user_id, 'direct_link', enqueued.code, click_price_micros,
      enqueued.occurred_at
    from enqueued join candidates using (bot_id, event_id) join campaigns using (campaign_id)
    where not enqueued.is_test
    returning campaign_id, format, price_micros, occurred_at
  ),
  summed as (${addToCampaignDays("charged")}),
  counted as (
    insert into clicks (bot_id, click_id, code, user_id, campaign_id, outcome, user_agent, address_hash, occurred_at)
    select bot_id, click_id, candidates.code, candidates.user_id, campaign_id,
      case when candidates.is_test then 'test' else 'counted' end, user_agent, address_hash,
      candidates.occurred_at
    from enqueued join candidates using (bot_id, event_id)
  )
  select event_id as "eventId", 1 / (admitted.user_id is not null)::integer as proof
  from enqueued left join admitted using (bot_id, user_id)`,
);
const DIVISION_BY_ZERO = "22012";

/**
 * Counts clicks, many in one commit: click, charge, the viewer's limits, event and delivery together. Gives the id of the
 * event that was made, or undefined where the click earned nothing after all. Clicks of one viewer that meet share one
 * result, so whoever finds another's event id in it has lost and asks again. Call `wakeDeliveries()` after the commit.
 */
export function clickCounter(database: AdDatabase): (click: CountableClick) => Promise<string | undefined> {
  const group = groupCommits<CountableClick, string | undefined>({
    maxInFlight: database.kind === "embedded" ? 1 : 2,
    mergeBy: ({ botId, userId }) => `${botId} ${userId}`,
    async run(batch) {
      const made = await countAll(database, batch);
      return batch.map(({ eventId }) => (made.has(eventId) ? eventId : undefined));
    },
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
export function lastClickCounter(database: AdDatabase) {
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
    const counted = line.last.then(() => countLast(database, click, hasRoom));
    line.last = counted.catch(() => {});
    try {
      return await counted;
    } finally {
      line.length -= 1;
      if (line.length === 0) lines.delete(campaignId);
    }
  };
}

function countLast(
  database: AdDatabase,
  click: CountableClick,
  hasRoom: (tx: AdTransaction) => Promise<boolean>,
): Promise<string | "full" | undefined> {
  return database
    .transaction(async (tx) => {
      if (!(await hasRoom(tx))) return "full";
      return (await countAll(tx, [click])).has(click.eventId) ? click.eventId : undefined;
    })
    .catch(undefinedIfNotAdmitted);
}

/** The ids of the events that were made. */
async function countAll(database: AdTransaction, clicks: readonly CountableClick[]): Promise<Set<string>> {
  const rows = await database.run(
    count,
    columns.map(([, , value]) => clicks.map(value)),
  );
  return new Set(rows.map(({ eventId }) => eventId));
}

function undefinedIfNotAdmitted(error: unknown): undefined {
  if (error instanceof Error && "code" in error && error.code === DIVISION_BY_ZERO) return undefined;
  throw error;
}

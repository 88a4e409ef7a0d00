import type { TaskState } from "@intermission/ad-core/event-words";
import type { TaskProof, TaskVoidReason } from "@intermission/operator-api/tasks";
import { type Database, type Statement, statement } from "@intermission/postgres/open-database";

export interface ListedTask {
  code: string;
  botId: string;
  userId: string;
  campaignId: string;
  chatId: string | null;
  title: string;
  state: TaskState;
  voidReason: TaskVoidReason | null;
  proof: TaskProof | null;
  isTest: boolean;
  isPaid: boolean;
  isReversed: boolean;
  priceMicros: number;
  offeredAt: Date;
  expiresAt: Date;
  openedAt: Date | null;
  joinedAt: Date | null;
  heldUntil: Date | null;
  keptAt: Date | null;
  leftAt: Date | null;
}

const ofFilter = `($1::text is null or campaign_id = $1) and ($2::text is null or bot_id = $2)
  and ($3::text is null or campaign_id in (select campaign_id from campaigns where advertiser_id = $3))`;

// Unnamed, since an operator runs it rarely, and its best index depends on the filter.
const list: Statement<ListedTask> = {
  name: "",
  text: `select code, bot_id as "botId", user_id as "userId", campaign_id as "campaignId", chat_id as "chatId", coalesce(title, '@' || start_bot) as title, state,
     void_reason as "voidReason", proof, is_test as "isTest", is_paid as "isPaid", is_reversed as "isReversed",
     price_micros::float8 as "priceMicros", offered_at as "offeredAt", expires_at as "expiresAt", opened_at as "openedAt",
     joined_at as "joinedAt", held_until as "heldUntil", kept_at as "keptAt", left_at as "leftAt"
   from tasks left join task_channels using (chat_id)
   where ${ofFilter} and ($4::text is null or user_id = $4) and ($5::text is null or state = $5)
     and ($6::text is null or (offered_at, code) < (select last.offered_at, last.code from tasks as last where last.code = $6))
   order by offered_at desc, code desc limit $7`,
};

const findCursor = statement<never>("tasks.find-cursor", "select from tasks where code = $1");

interface TaskFilter {
  campaignId?: string | undefined;
  botId?: string | undefined;
  advertiserId?: string | undefined;
}

/** The latest offers first. */
export async function listTasks(
  database: Database,
  of: TaskFilter & {
    userId?: string | undefined;
    state?: TaskState | undefined;
    after?: string | undefined;
    limit: number;
  },
): Promise<{ outcome: "listed"; tasks: ListedTask[]; next: string | null } | { outcome: "unknown-cursor" }> {
  const { after, limit } = of;
  if (after !== undefined && (await database.run(findCursor, [after])).length === 0)
    return { outcome: "unknown-cursor" };
  const rows = await database.run(list, [...valuesOf(of), of.userId, of.state, after, limit + 1]);
  const tasks = rows.slice(0, limit);
  return { outcome: "listed", tasks, next: rows.length > limit ? (tasks.at(-1)?.code ?? null) : null };
}

const valuesOf = ({ campaignId, botId, advertiserId }: TaskFilter) => [campaignId, botId, advertiserId];

const sumStates: Statement<{ state: TaskState; count: number; paid: number; reversed: number }> = {
  name: "",
  text: `select state, count(*)::integer as count, (count(*) filter (where is_paid))::integer as paid,
     (count(*) filter (where is_reversed))::integer as reversed
   from tasks where ${ofFilter} and offered_at >= $4 and not is_test group by state`,
};

interface RetentionOfDay {
  day: number;
  joined: number;
  stayed: number;
  unknown: number;
}

// Telegram reports leaves while the task bot has its rights. At the end of the hold the node also requests the membership.
const sumRetention: Statement<RetentionOfDay> = {
  name: "",
  text: `select day, count(*)::integer as joined,
     (count(*) filter (where not is_known and not has_left))::integer as unknown,
     (count(*) filter (where is_known and not has_left))::integer as stayed
   from (
     select day, coalesce(left_at < joined_at + day * interval '1 day', false) as has_left,
       case when day <= hold_days and state = 'kept' then true
         when day >= hold_days and state = 'held' then false else rights = 'ready' end as is_known
     from tasks join task_channels using (chat_id) cross join unnest($5::integer[]) as day
     where ${ofFilter} and offered_at >= $4 and not is_test and joined_at <= $6::timestamptz - day * interval '1 day'
   ) as joins group by day order by day`,
};

/** Days after which members are counted. */
const RETENTION_DAYS = [1, 3, 7, 14, 30, 60, 90];

/** Outcomes of the tasks of the last days, and members by day, without testers. */
export async function sumTasks(
  database: Pick<Database, "run">,
  { days, now, ...filter }: TaskFilter & { days: number; now: Date },
): Promise<{
  states: Partial<Record<TaskState, number>>;
  paid: number;
  reversed: number;
  retention: RetentionOfDay[];
}> {
  const values = [...valuesOf(filter), new Date(now.getTime() - days * 86_400_000)];
  const rows = await database.run(sumStates, values);
  const retention = await database.run(sumRetention, [...values, RETENTION_DAYS, now]);
  return {
    states: Object.fromEntries(rows.map(({ state, count }) => [state, count])),
    paid: rows.reduce((sum, { paid }) => sum + paid, 0),
    reversed: rows.reduce((sum, { reversed }) => sum + reversed, 0),
    retention,
  };
}

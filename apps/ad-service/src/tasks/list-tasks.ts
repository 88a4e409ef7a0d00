import type { TaskState } from "@intermission/ad-core/event-words";
import type { TaskProof, TaskVoidReason } from "@intermission/operator-api/tasks";
import type { Database, Statement } from "@intermission/postgres/open-database";

export interface ListedTask {
  code: string;
  botId: string;
  userId: string;
  campaignId: string;
  chatId: string;
  state: TaskState;
  voidReason: TaskVoidReason | null;
  proof: TaskProof | null;
  isTest: boolean;
  isPaid: boolean;
  isReversed: boolean;
  priceMicros: number;
  offeredAt: Date;
  expiresAt: Date;
  joinedAt: Date | null;
  heldUntil: Date | null;
  leftAt: Date | null;
}

// Unnamed, since an operator runs it rarely, and its best index depends on the filter.
const list: Statement<ListedTask> = {
  name: "",
  text: `select code, bot_id as "botId", user_id as "userId", campaign_id as "campaignId", chat_id as "chatId", state,
     void_reason as "voidReason", proof, is_test as "isTest", is_paid as "isPaid", is_reversed as "isReversed",
     price_micros::float8 as "priceMicros", offered_at as "offeredAt", expires_at as "expiresAt", joined_at as "joinedAt",
     held_until as "heldUntil", left_at as "leftAt"
   from tasks
   where ($1::text is null or campaign_id = $1) and ($2::text is null or bot_id = $2) and ($3::text is null or user_id = $3)
     and ($4::text is null or state = $4)
     and ($5::text is null or (offered_at, code) < (select last.offered_at, last.code from tasks as last where last.code = $5))
   order by offered_at desc, code desc limit $6`,
};

interface TaskFilter {
  campaignId?: string | undefined;
  botId?: string | undefined;
  userId?: string | undefined;
  state?: TaskState | undefined;
  after?: string | undefined;
  limit: number;
}

/** The latest offers first. */
export async function listTasks(
  database: Database,
  filter: TaskFilter,
): Promise<{ tasks: ListedTask[]; next: string | null }> {
  const { campaignId, botId, userId, state, after, limit } = filter;
  const rows = await database.run(list, [campaignId, botId, userId, state, after, limit + 1]);
  const tasks = rows.slice(0, limit);
  return { tasks, next: rows.length > limit ? (tasks.at(-1)?.code ?? null) : null };
}

import type { TaskState } from "@intermission/ad-core/event-words";
import type { TaskKind } from "@intermission/ad-core/task-api";
import type { TaskPayment } from "@intermission/operator-api/campaign-words";
import { type Database, statement } from "@intermission/postgres/open-database";

/** A task as its own user sees it: without its proof, and without what the advertiser pays. */
export interface OwnTask {
  code: string;
  state: TaskState;
  kind: TaskKind;
  title: string;
  username: string | null;
  expiresAt: Date;
  holdDays: number;
  paidAt: TaskPayment;
  heldUntil: Date | null;
  isPaid: boolean;
  isReversed: boolean;
  memberSince: Date | null;
}

/** Whose task: no statement here reads one of another user. */
export interface TaskOwner {
  botId: string;
  userId: string;
}

const MAX_SHOWN = 25;

const columns = `code, state, case when start_bot is null then 'join' else 'start' end as kind,
  coalesce(title, '@' || start_bot) as title, coalesce(task_channels.username, start_bot) as username,
  expires_at as "expiresAt", hold_days as "holdDays", paid_at as "paidAt", held_until as "heldUntil", is_paid as "isPaid",
  is_reversed as "isReversed", member_since as "memberSince"`;

const readOwn = statement<OwnTask>(
  "tasks.read-own",
  `select ${columns} from tasks left join task_channels using (chat_id)
   where user_id = $1 and bot_id = $2 and state <> 'lapsed' and (state not in ('offered', 'opened') or expires_at > $3)
   order by state in ('offered', 'opened') desc, case when state in ('offered', 'opened') then offered_at end, offered_at desc, code
   limit ${MAX_SHOWN}`,
);
const readOne = statement<OwnTask>(
  "tasks.read-one-own",
  `select ${columns} from tasks left join task_channels using (chat_id) where code = $1 and user_id = $2 and bot_id = $3`,
);

/** Open ones first, in the order in which the bot's chat has them; then the newest ones that are over. */
export function readOwnTasks(
  database: Pick<Database, "run">,
  { userId, botId, now }: TaskOwner & { now: Date },
): Promise<OwnTask[]> {
  return database.run(readOwn, [userId, botId, now]);
}

export async function readOwnTask(
  database: Pick<Database, "run">,
  { code, userId, botId }: TaskOwner & { code: string },
): Promise<OwnTask | undefined> {
  return (await database.run(readOne, [code, userId, botId]))[0];
}

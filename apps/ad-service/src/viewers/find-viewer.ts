import { statement } from "@intermission/postgres/open-database";
import type { AdTransaction } from "../ad-database.ts";
import type { Viewer } from "./limit-of-viewer.ts";

/** A bot's user, with what the bot allows its users. */
export interface LockedViewer extends Viewer {
  /** Real time before this moment was credited to one of the viewer's views. */
  creditedUntil: Date | null;
  cooldownSeconds: number;
  dailyCap: number;
}

interface ViewerId {
  botId: string;
  userId: string;
}

const columns = `day::text as day, earned_today as "earnedToday", last_earned_at as "lastEarnedAt"`;
const find = statement<Viewer>("viewers.find", `select ${columns} from viewers where bot_id = $1 and user_id = $2`);
const lock = statement<LockedViewer>(
  "viewers.lock",
  `select ${columns}, credited_until as "creditedUntil", cooldown_seconds as "cooldownSeconds", daily_cap as "dailyCap"
   from viewers join bots using (bot_id) where bot_id = $1 and user_id = $2 for update of viewers`,
);
const add = statement<never>(
  "viewers.add",
  `insert into viewers (bot_id, user_id, day, earned_today) values ($1, $2, ($3::timestamptz at time zone 'utc')::date, 0)
   on conflict do nothing`,
);

export async function findViewer(tx: AdTransaction, { botId, userId }: ViewerId): Promise<Viewer | undefined> {
  return (await tx.run(find, [botId, userId]))[0];
}

/**
 * Holds the viewer's row until the transaction ends: other transactions that credit time or pay wait. Lock the session first,
 * and no session afterwards, or two transactions may wait for one another.
 */
export async function lockViewer(
  tx: AdTransaction,
  { botId, userId, now }: ViewerId & { now: Date },
): Promise<LockedViewer> {
  const [known] = await tx.run(lock, [botId, userId]);
  if (known) return known;
  await tx.run(add, [botId, userId, now]);
  const [added] = await tx.run(lock, [botId, userId]);
  if (!added) throw new Error("a viewer's bot vanished");
  return added;
}

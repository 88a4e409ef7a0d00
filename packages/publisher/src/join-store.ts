/** A request to join a channel or group that waits for its ad. A user has one for a chat. */
export interface PendingJoin {
  readonly chatId: string;
  readonly userId: string;
  /** Of the join request query; undefined where Telegram sent none. */
  readonly queryId: string | undefined;
  /** Unix time in milliseconds: when it is decided without an ad. */
  readonly decideAt: number;
}

/** Where an event store remembers the requests to join, beside the events that were handled. */
export interface JoinStore {
  /** Replaces an earlier request of the same user and chat. */
  put(join: PendingJoin): Promise<void>;
  get(chatId: string, userId: string): Promise<PendingJoin | undefined>;
  /** Those whose time is over, at most 100. */
  late(now: number): Promise<readonly PendingJoin[]>;
  /** Does nothing if a later request has replaced this one. */
  remove(join: PendingJoin): Promise<void>;
}

const MAX_LATE = 100;

/** Requests in this process. `changed` is called with all of them after each change. */
export function joinsInMemory(
  known: Iterable<PendingJoin> = [],
  changed: (joins: Iterable<PendingJoin>) => void = () => {},
): JoinStore {
  const joins = new Map([...known].map((join) => [keyOf(join), join]));
  return {
    async put(join) {
      joins.set(keyOf(join), join);
      changed(joins.values());
    },
    get: async (chatId, userId) => joins.get(keyOf({ chatId, userId })),
    late: async (now) => [...joins.values()].filter(({ decideAt }) => decideAt <= now).slice(0, MAX_LATE),
    async remove(join) {
      const stored = joins.get(keyOf(join));
      if (!stored || stored.queryId !== join.queryId || stored.decideAt !== join.decideAt) return;
      joins.delete(keyOf(join));
      changed(joins.values());
    },
  };
}

const keyOf = ({ chatId, userId }: Pick<PendingJoin, "chatId" | "userId">) => `${chatId} ${userId}`;

/** The statements of a table; `$1` … are its values. The time is a text of 16 digits, which every driver returns as it is. */
export function joinStatements(table: string) {
  const row = `chat_id, user_id, query_id, decide_at`;
  return {
    create: `create table if not exists ${table} (chat_id text not null, user_id text not null, query_id text not null,
      decide_at text not null, primary key (chat_id, user_id))`,
    put: `insert into ${table} (${row}) values ($1, $2, $3, $4) on conflict (chat_id, user_id)
      do update set query_id = excluded.query_id, decide_at = excluded.decide_at`,
    get: `select ${row} from ${table} where chat_id = $1 and user_id = $2`,
    late: `select ${row} from ${table} where decide_at <= $1 order by decide_at limit ${MAX_LATE}`,
    remove: `delete from ${table} where chat_id = $1 and user_id = $2 and query_id = $3 and decide_at = $4`,
  };
}

export function joinValues({ chatId, userId, queryId = "", decideAt }: PendingJoin): [string, string, string, string] {
  return [chatId, userId, queryId, momentText(decideAt)];
}

export function joinOf(row: unknown): PendingJoin {
  const { chat_id, user_id, query_id, decide_at } = row as Record<string, unknown>;
  const queryId = String(query_id);
  return {
    chatId: String(chat_id),
    userId: String(user_id),
    queryId: queryId === "" ? undefined : queryId,
    decideAt: Number(decide_at),
  };
}

export const momentText = (milliseconds: number) => String(Math.ceil(milliseconds)).padStart(16, "0");

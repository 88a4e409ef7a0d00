import { type Database, statement } from "@intermission/postgres/open-database";
import { type BackgroundLoop, startLoop } from "@intermission/server/background-loop";
import type { FastifyBaseLogger } from "fastify";

/** Rows of one scan: few, since other statements may wait for one of them. */
const BATCH = 500;

/** State of users, a row for each, as long as something may still depend on it. */
interface StateTable {
  readonly table: string;
  /** The columns of its primary key, all of them text. */
  readonly key: readonly string[];
  /** SQL condition on a row, `kept`: the user has not come since `$1`. */
  readonly isIdle: string;
  /** SQL for whether rows of other tables need it. Evaluated once the row is locked. */
  readonly isNeeded: string;
}

const stateTables = {
  viewers: {
    table: "viewers",
    key: ["user_id", "bot_id"],
    // The longest cooldown is seven days, and a daily cap counts one day.
    isIdle: `kept.day < ($1::timestamptz at time zone 'utc')::date
      and (kept.last_earned_at is null or kept.last_earned_at < $1::timestamptz)
      and (kept.credited_until is null or kept.credited_until < $1::timestamptz)`,
    // Beginning a view writes its viewer's row in the same transaction.
    isNeeded: `exists (
      select from views where views.user_id = kept.user_id and views.bot_id = kept.bot_id
        and (opened_at >= $1::timestamptz or deadline >= $1::timestamptz or due_at is not null))`,
  },
  codes: {
    table: "current_codes",
    key: ["user_id", "bot_id", "reference"],
    isIdle: "kept.expires_at < $1::timestamptz",
    isNeeded: "false",
  },
} as const satisfies Record<string, StateTable>;

const named = (name: string, columns: readonly string[]) => columns.map((column) => `${name}.${column}`).join(", ");

function statementsOf({ table, key, isIdle, isNeeded }: StateTable) {
  const after = key.map((_, index) => `$${index + 2}::text`).join(", ");
  const keys = `unnest(${key.map((_, index) => `$${index + 2}::text[]`).join(", ")}) as idle (${key.join(", ")})`;
  const isSame = key.map((column) => `kept.${column} = idle.${column}`).join(" and ");
  return {
    scan: statement<{ key: string[]; isIdle: boolean }>(
      `retention.scan-${table}`,
      `select array[${named("kept", key)}] as key, ${isIdle} as "isIdle" from ${table} as kept
       where (${named("kept", key)}) > (${after}) order by ${named("kept", key)} limit ${BATCH}`,
    ),
    lock: statement<{ key: string[] }>(
      `retention.lock-idle-${table}`,
      `select array[${named("kept", key)}] as key from ${keys} join ${table} as kept on ${isSame}
       where ${isIdle} for update of kept skip locked`,
    ),
    remove: statement<{ removed: number }>(
      `retention.remove-idle-${table}`,
      `with removed as (
         delete from ${table} as kept using ${keys} where ${isSame} and ${isIdle} and not (${isNeeded}) returning 1
       )
       select count(*)::integer as removed from removed`,
    ),
  };
}

const statementsFor = { viewers: statementsOf(stateTables.viewers), codes: statementsOf(stateTables.codes) };
type StateName = keyof typeof stateTables;
const stateNames = Object.keys(stateTables) as readonly StateName[];

/** Below all keys. */
const firstOf = (name: StateName): readonly string[] => stateTables[name].key.map(() => "");

/**
 * Scans the next rows of a table behind the key `after`, and removes those of users who last came before `before`. A row that
 * another transaction has locked stays; a request that comes meanwhile waits for this transaction, and gets a new row.
 *
 * @returns the last key that was scanned; undefined at the end of the table.
 */
export async function removeIdle(
  database: Pick<Database, "run" | "transaction">,
  name: StateName,
  { before, after = firstOf(name) }: { before: Date; after?: readonly string[] | undefined },
): Promise<{ last: readonly string[] | undefined; removed: number }> {
  const { scan, lock, remove } = statementsFor[name];
  const columnsOf = (keys: readonly string[][]) =>
    stateTables[name].key.map((_, column) => keys.map((key) => key[column]));
  const scanned = await database.run(scan, [before, ...after]);
  const last = scanned.length < BATCH ? undefined : scanned.at(-1)?.key;
  const idle = scanned.filter(({ isIdle }) => isIdle).map(({ key }) => key);
  if (idle.length === 0) return { last, removed: 0 };
  const removed = await database.transaction(async (tx) => {
    const locked = await tx.run(lock, [before, ...columnsOf(idle)]);
    // A statement of its own: it sees the views that were committed before the rows were locked.
    const [counted] = await tx.run(remove, [before, ...columnsOf(locked.map(({ key }) => key))]);
    return counted?.removed ?? 0;
  });
  return { last, removed };
}

const DAY_MS = 86_400_000;
/** A table of ten million rows takes some six hours. */
const EVERY_MS = 1000;
/** After a start, other work comes first. */
const FIRST_IN_MS = 60_000;

/**
 * Removes the rows of idle users slowly, a batch a second, from the beginning of the tables once a day and after a start, while
 * the clock is settled, until it is stopped. Any number of nodes may run it: a row is removed once.
 */
export function startRemovingIdle(deps: {
  database: Pick<Database, "run" | "transaction">;
  idleDays: number;
  log: Pick<FastifyBaseLogger, "info" | "error">;
  now: () => Date;
  isClockSettled: () => boolean;
  everyMs?: number;
  firstInMs?: number;
}): BackgroundLoop {
  const { database, idleDays, log, now, isClockSettled, everyMs = EVERY_MS, firstInMs = FIRST_IN_MS } = deps;
  let left = [...stateNames];
  let after: readonly string[] | undefined;
  let removed = { viewers: 0, codes: 0 };

  return startLoop({
    everyMs,
    firstInMs,
    async round() {
      if (!isClockSettled()) return undefined;
      const [name] = left;
      if (name !== undefined) {
        const before = new Date(now().getTime() - idleDays * DAY_MS);
        const batch = await removeIdle(database, name, { before, after });
        removed[name] += batch.removed;
        after = batch.last;
        if (after === undefined) left.shift();
        return undefined;
      }
      if (removed.viewers + removed.codes > 0) log.info({ removed }, "rows of idle users were removed");
      left = [...stateNames];
      removed = { viewers: 0, codes: 0 };
      return DAY_MS;
    },
    onFault: (error) => log.error({ err: error }, "rows of idle users could not be removed; trying again"),
  });
}

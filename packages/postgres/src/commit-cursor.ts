import { type Runner, statement } from "./database.ts";

/**
 * A position in a feed in commit order.
 *
 * Ids and timestamps are assigned before the commit, so a row with a lower id can become visible after a higher one was
 * read. Rows therefore store `commit_xid()`, a page has only rows whose `xid` is below `settled_xid()` (every transaction
 * before it has ended), ordered by (xid, id), and the cursor is the last row's (epoch, xid, id). Rows that commit later
 * never sort before it. `commit-epoch.ts` defines both functions, so that the order continues after the data are restored
 * into another cluster, whose transaction ids begin again.
 */
export interface CommitCursor {
  /** The epoch in which the row was written, see `epochOf`. Empty at the start of the feed. */
  readonly epoch: string;
  /** Decimal digits of an `xid8`. */
  readonly xid: string;
  readonly id: string;
}

/** The position before all rows. */
export const feedStart: CommitCursor = { epoch: "", xid: "0", id: "" };

/** An SQL expression for the epoch of a row. `xid` is the SQL expression of the row's `xid`. */
export function epochOf(xid: string): string {
  return `(select epoch_id from commit_epochs where starts_at <= ${xid} order by starts_at desc limit 1)`;
}

/** Opaque to callers: base64url. */
export function encodeCursor({ epoch, xid, id }: CommitCursor): string {
  return Buffer.from(`${epoch}.${xid}.${id}`, "utf8").toString("base64url");
}

/** The cursor, or `undefined` for text that `encodeCursor` cannot return. Never throws. */
export function decodeCursor(text: string): CommitCursor | undefined {
  if (!/^[A-Za-z0-9_-]{2,200}$/.test(text)) return undefined;
  const [, epoch, xid, id] =
    /^([A-Za-z0-9_-]{0,40})\.(0|[1-9][0-9]{0,19})\.([\x21-\x7e]{0,100})$/.exec(
      Buffer.from(text, "base64url").toString("utf8"),
    ) ?? [];
  if (epoch === undefined || xid === undefined || id === undefined) return undefined;
  if (BigInt(xid) > 0xffff_ffff_ffff_ffffn || (epoch === "" && xid !== "0")) return undefined;
  return { epoch, xid, id };
}

// Rows of an epoch end where the next one begins: rows beyond that which a cursor has passed are not in these tables.
const findPlace = statement<{ xid: string }>(
  "commit-cursor.place",
  `select least($2::xid8, (select starts_at from commit_epochs as next where next.epoch > own.epoch order by next.epoch limit 1)) as xid
   from commit_epochs as own where epoch_id = $1`,
);

type FeedPlace =
  | { readonly outcome: "place"; readonly xid: string; readonly id: string }
  /** The cursor is newer than the backup from which this store was restored. */
  | { readonly outcome: "unknown-epoch" };

/**
 * The (xid, id) after which the rows are that the reader with this cursor has not seen. If a backup without the cursor's
 * row was restored since, this is the end of the backup's rows. `lowestId` sorts before every id.
 */
export async function placeOfCursor(
  runner: Pick<Runner, "run">,
  cursor: CommitCursor,
  { lowestId = "" }: { readonly lowestId?: string } = {},
): Promise<FeedPlace> {
  if (cursor.epoch === "") return { outcome: "place", xid: "0", id: lowestId };
  const [found] = await runner.run(findPlace, [cursor.epoch, cursor.xid]);
  if (found === undefined) return { outcome: "unknown-epoch" };
  return { outcome: "place", xid: found.xid, id: found.xid === cursor.xid ? cursor.id : lowestId };
}

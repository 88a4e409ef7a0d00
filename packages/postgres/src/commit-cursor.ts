/**
 * A place in a feed that follows the order of commits.
 *
 * Ids and timestamps are given out before the commit, so a row of a lower id can become visible after a higher one was
 * read. Rows therefore store `pg_current_xact_id()`, a page holds only rows whose `xid` is below
 * `pg_snapshot_xmin(pg_current_snapshot())` (every transaction before it has ended), ordered by (xid, id), and the cursor
 * is the last row's (xid, id). Nothing that commits later can sort before it.
 */
export interface CommitCursor {
  /** Decimal digits of an `xid8`. */
  readonly xid: string;
  readonly id: string;
}

/** Before every row. */
export const feedStart: CommitCursor = { xid: "0", id: "" };

/** Opaque to callers: base64url. */
export function encodeCursor({ xid, id }: CommitCursor): string {
  return Buffer.from(`${xid}.${id}`, "utf8").toString("base64url");
}

/** The cursor, or `undefined` for text that `encodeCursor` cannot have made. Never throws. */
export function decodeCursor(text: string): CommitCursor | undefined {
  if (!/^[A-Za-z0-9_-]{2,200}$/.test(text)) return undefined;
  const [, xid, id] =
    /^(0|[1-9][0-9]{0,19})\.([\x21-\x7e]{0,100})$/.exec(Buffer.from(text, "base64url").toString("utf8")) ?? [];
  if (xid === undefined || id === undefined || BigInt(xid) > 0xffff_ffff_ffff_ffffn) return undefined;
  return { xid, id };
}

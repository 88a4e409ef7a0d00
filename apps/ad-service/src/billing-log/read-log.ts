import { statement, type Transaction } from "@intermission/postgres/open-database";
import { completeSubtrees, type LeafRange, rangeHash } from "./merkle-tree.ts";
import { bundleOf, HASH_BYTES, hashInTile, placeOf, type StoredTile, type TileName } from "./tiles.ts";

type Reader = Pick<Transaction, "run">;

/** A log with its newest checkpoint. */
export interface BillingLog {
  logId: number;
  origin: string;
  verifierKey: string;
  /** Rows of earlier transactions have entries. */
  xid: string;
  size: number;
  publishedSize: number;
  checkpoint: string | null;
  publishedAt: Date | null;
}

export const logColumns = `log_id as "logId", origin, verifier_key as "verifierKey", xid, size, published_size as "publishedSize",
     checkpoint, published_at as "publishedAt"`;

const current = statement<BillingLog>(
  "billing-log.current",
  `select ${logColumns} from billing_logs order by log_id desc limit 1`,
);

/** The log that entries are appended to; undefined before a server has made it. */
export async function readCurrentLog(database: Reader): Promise<BillingLog | undefined> {
  return (await database.run(current, []))[0];
}

const find = statement<BillingLog>("billing-log.find", `select ${logColumns} from billing_logs where log_id = $1`);

/** A log by its number: 1 is the first one. */
export async function findLog(database: Reader, logId: number): Promise<BillingLog | undefined> {
  return (await database.run(find, [logId]))[0];
}

const findTiles = statement<StoredTile>(
  "billing-log.find-tiles",
  `select level, tile_index as index, hashes
   from unnest($2::smallint[], $3::bigint[]) as requested (level, tile_index) join billing_log_tiles using (level, tile_index)
   where log_id = $1`,
);

const readEntries = statement<{ index: number; entry: string }>(
  "billing-log.read-entries",
  `select log_index as index, entry from billing_log_entries
   where log_id = $1 and log_index >= $2 and log_index < $3 order by log_index`,
);

/** Entries from `from` to before `to`. */
async function entriesBetween(database: Reader, logId: number, { from, to }: LeafRange): Promise<string[]> {
  const rows = await database.run(readEntries, [logId, from, to]);
  if (rows.length !== to - from) throw new Error(`the log lacks entries between ${from} and ${to}`);
  return rows.map(({ entry }) => entry);
}

/** The bytes of a tile or a bundle as it is served. The log has it: see `hasTile`. */
export async function tileBytes(database: Reader, logId: number, name: TileName): Promise<Buffer> {
  const { level, index, width } = name;
  if (level === "entries") {
    const from = index * 256;
    const entries = await entriesBetween(database, logId, { from, to: from + width });
    return bundleOf(entries.map((entry) => Buffer.from(entry, "utf8")));
  }
  const [tile] = await database.run(findTiles, [logId, [level], [index]]);
  const bytes = tile?.hashes.subarray(0, width * HASH_BYTES);
  if (bytes?.byteLength !== width * HASH_BYTES) throw new Error(`the log lacks tile ${index} of level ${level}`);
  return bytes;
}

/** Tiles that are read at once: at most 4 MB. */
const MAX_TILES = 512;

/** The hashes of nodes of the tree, in the order of the ranges. */
export async function hashesOfRanges(
  database: Reader,
  logId: number,
  ranges: readonly LeafRange[],
): Promise<Uint8Array[]> {
  const hashes = new Map<string, Uint8Array>();
  const keyOf = ({ from, to }: LeafRange) => `${from}-${to}`;
  const byTile = new Map<string, LeafRange[]>();
  for (const subtree of ranges.flatMap(completeSubtrees)) {
    const { level, index } = placeOf(subtree);
    const tile = `${level}/${index}`;
    const known = byTile.get(tile);
    if (known === undefined) byTile.set(tile, [subtree]);
    else known.push(subtree);
  }
  const names = [...byTile.keys()];
  for (let first = 0; first < names.length; first += MAX_TILES) {
    const places = names.slice(first, first + MAX_TILES).map((name) => name.split("/").map(Number));
    const found = await database.run(findTiles, [
      logId,
      places.map(([level]) => level),
      places.map(([, index]) => index),
    ]);
    for (const { level, index, hashes: tile } of found) {
      for (const subtree of byTile.get(`${level}/${index}`) ?? [])
        hashes.set(keyOf(subtree), hashInTile(tile, placeOf(subtree)));
    }
  }
  return ranges.map((range) => rangeHash(range, (subtree) => requireHash(hashes.get(keyOf(subtree)))));
}

function requireHash(hash: Uint8Array | undefined): Uint8Array {
  if (hash === undefined) throw new Error("the log lacks a tile");
  return hash;
}

/** The hash of the tree of the first `size` entries. */
export async function rootOf(database: Reader, logId: number, size: number): Promise<Uint8Array> {
  const [root] = await hashesOfRanges(database, logId, [{ from: 0, to: size }]);
  return requireHash(root);
}

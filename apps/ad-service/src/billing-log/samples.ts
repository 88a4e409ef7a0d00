import { createHash } from "node:crypto";
import { type Database, statement } from "@intermission/postgres/open-database";
import { type BillingLog, rootOf } from "./read-log.ts";
import { entriesOfStatement, type PlacedEntries, type PlacedEntry, type StatementOfProof } from "./statement-proof.ts";

/**
 * Which of `among` places a root draws: the first eight bytes of SHA-256 of the root and a running number of eight bytes, as a
 * number modulo the places, without repeats. Whoever has the checkpoint draws the same ones.
 */
function drawPlaces(root: Uint8Array, { among, count }: { among: number; count: number }): number[] {
  const drawn = new Set<number>();
  for (let number = 0n; drawn.size < Math.min(count, among); number++) {
    const counted = Buffer.alloc(8);
    counted.writeBigUInt64BE(number);
    const hash = createHash("sha256").update(root).update(counted).digest();
    drawn.add(Number(hash.readBigUInt64BE(0) % BigInt(among)));
  }
  return [...drawn];
}

// A code may have several: the one that counts has the hash of its entry.
const findLaunches = statement<{ hash: string; botId: string; salt: Buffer; initData: string }>(
  "billing-log.find-launches",
  `select encode(sha256(salt || convert_to(init_data, 'UTF8')), 'hex') as hash, launched.bot_id as "botId", salt,
     init_data as "initData"
   from events join view_launches as launched on launched.code = events.code and launched.bot_id = events.bot_id
   where event_id = any($1)`,
);

/**
 * A file that `verify.mjs` reads: of each view that the tree of `size` entries draws of a statement, the launch data whose
 * salted hash its entry has; or that it is gone, since its user was erased or it is no longer kept.
 */
export async function openDrawn(
  database: Database,
  { log, of, size, count }: { log: BillingLog; of: StatementOfProof; size: number; count: number },
): Promise<{ outcome: "opened"; file: string } | { outcome: "not-yet" }> {
  if (size > log.publishedSize) return { outcome: "not-yet" };
  const found = await entriesOfStatement(database, { log, of, size });
  if (found.outcome === "not-yet") return found;
  let among = 0;
  for await (const { length } of withLaunch(found.entries)) among += length;
  const places = drawPlaces(await rootOf(database, log.logId, size), { among, count });
  const drawn = await entriesAt(found.entries, places);
  const launches = await database.run(findLaunches, [drawn.map(({ entry }) => JSON.parse(entry).event)]);
  const samples = drawn.map(({ index, entry }) => {
    const launch = launches.find(({ hash }) => hash === launchOf(entry));
    if (launch === undefined) return { index, isGone: true };
    const { botId, salt, initData } = launch;
    return { index, botId, salt: salt.toString("hex"), initData };
  });
  const file = { format: "intermission/samples@1", statement: of.number, count, samples };
  return { outcome: "opened", file: `${JSON.stringify(file, null, 1)}\n` };
}

/** Entries that have a launch. */
async function* withLaunch(entries: PlacedEntries): AsyncGenerator<PlacedEntry[]> {
  for await (const placed of entries()) yield placed.filter(({ entry }) => launchOf(entry) !== undefined);
}

/** The entries at some places among those that have a launch, in the order of the places. */
async function entriesAt(entries: PlacedEntries, places: readonly number[]): Promise<PlacedEntry[]> {
  const found = new Map<number, PlacedEntry>();
  const requested = new Set(places);
  let from = 0;
  for await (const placed of withLaunch(entries)) {
    for (const [offset, entry] of placed.entries()) if (requested.has(from + offset)) found.set(from + offset, entry);
    from += placed.length;
  }
  return places.flatMap((place) => found.get(place) ?? []);
}

function launchOf(entry: string): string | undefined {
  return JSON.parse(entry).launch;
}

import { isWebOrigin } from "@intermission/ad-core/web-address";
import type { Bot, ScriptState, SeenOrigin } from "@intermission/operator-api/bots";
import { type Database, statement } from "@intermission/postgres/open-database";
import { BoundedCache } from "@intermission/server/bounded-cache";
import type { FastifyBaseLogger } from "fastify";

/** A page in use is written once in this time by each node. */
const GRAIN_MS = 10_000;
const MAX_ORIGIN_LENGTH = 300;
/** Anybody may name any origin: of those that are not registered, a bot keeps the last few. */
const MAX_OTHERS = 5;

export interface SightingDeps {
  database: Database;
  log: Pick<FastifyBaseLogger, "error">;
  /** What this node has stored lately, and when, in milliseconds. */
  sightings: BoundedCache<string, number>;
}

export const openSightings = (): SightingDeps["sightings"] => new BoundedCache(10_000);

interface Sighting {
  bot: Pick<Bot, "botId" | "appOrigins">;
  /** The `Origin` header, which browsers set. */
  origin: string | undefined;
  version: string | undefined;
  state: ScriptState;
  now: Date;
}

// The rows before the insert are counted: one more than the limit may stay until the next insert.
const store = statement<never>(
  "bots.store-script-sighting",
  `with stored as (
     insert into script_sightings (bot_id, origin, seen_at, version, state) values ($1, $2, $3, $4, $5)
     on conflict (bot_id, origin) do update
       set seen_at = excluded.seen_at, version = excluded.version, state = excluded.state
       where script_sightings.seen_at <= excluded.seen_at)
   delete from script_sightings
   where bot_id = $1 and origin in (
     select others.origin from script_sightings as others
     where others.bot_id = $1 and others.origin <> $2 and others.origin <> all ($6)
     order by others.seen_at desc offset ${MAX_OTHERS - 1})`,
);

/** Notes that a page with the script was here. What goes wrong with it is no matter of the page's user. */
export async function noteSighting(
  { database, log, sightings }: SightingDeps,
  { bot: { botId, appOrigins }, origin, version, state, now }: Sighting,
): Promise<void> {
  if (origin === undefined || origin.length > MAX_ORIGIN_LENGTH || !isWebOrigin(origin)) return;
  const isRegistered = appOrigins.includes(origin);
  const key = isRegistered ? `${botId} ${origin} ${state}` : botId;
  const before = sightings.get(key);
  if (before !== undefined && Math.abs(now.getTime() - before) < GRAIN_MS) return;
  sightings.set(key, now.getTime());
  try {
    const seen = isRegistered ? state : "not-registered";
    await database.run(store, [botId, origin, now, version ?? null, seen, appOrigins]);
  } catch (error) {
    log.error({ err: error, botId }, "where the in-app script was seen could not be stored");
  }
}

type Row = Omit<SeenOrigin, "isRegistered">;

const read = statement<Row>(
  "bots.read-script-sightings",
  `select origin, seen_at as "seenAt", version, state from script_sightings where bot_id = $1 order by seen_at desc`,
);

/** Those that are registered in their order, then the others, the last one first. */
export async function listAppOrigins(
  database: Database,
  { botId, appOrigins }: Pick<Bot, "botId" | "appOrigins">,
): Promise<SeenOrigin[]> {
  const rows = await database.run(read, [botId]);
  const unseen = { seenAt: null, version: null, state: null };
  return [
    ...appOrigins.map((origin) => ({
      ...(rows.find((row) => row.origin === origin) ?? { origin, ...unseen }),
      isRegistered: true,
    })),
    ...rows.filter(({ origin }) => !appOrigins.includes(origin)).map((row) => ({ ...row, isRegistered: false })),
  ];
}

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { placeOf } from "@intermission/postgres/database-url";
import { z } from "zod";
import type { Logger } from "./logger.ts";
import { StartFault } from "./start-fault.ts";

type WarningLog = Pick<Logger, "warn">;

/** Where a server keeps its store. */
export interface StorePlace {
  readonly databaseUrl: string | undefined;
  readonly dataDirectory: string;
  /** The server's own folder inside `dataDirectory`. */
  readonly dataFolder: string;
}

/** Written beside an embedded store once its server uses a database server instead. */
const markOf = ({ dataFolder }: Pick<StorePlace, "dataFolder">) => join(dataFolder, "uses-database-server.json");

const mark = z.object({ database: z.string(), since: z.iso.datetime() });

function holdsStore({ dataDirectory }: StorePlace): boolean {
  return existsSync(join(dataDirectory, "postgres", "PG_VERSION"));
}

/**
 * For a server that starts. With `DATABASE_URL` over a folder that holds a store, it warns that the store is not used. Without
 * `DATABASE_URL` it throws a `StartFault` for a store that is marked as abandoned: someone forgot the setting.
 */
export function requireStoreInUse(place: StorePlace, logger: WarningLog): void {
  const fault = abandonedStoreFault(place);
  if (fault !== undefined) throw new StartFault(fault);
  if (place.databaseUrl === undefined || !holdsStore(place)) return;
  logger.warn(
    { database: placeOf(place.databaseUrl), folder: place.dataDirectory },
    `DATABASE_URL is set, so the store in ${place.dataDirectory} is not used: what it holds (bots, campaigns, codes, rewards) ` +
      "is not in the database unless it was copied there. Commands need DATABASE_URL as well. To use that store, unset " +
      `DATABASE_URL and remove ${markOf(place)}; to end this warning, move ${join(place.dataDirectory, "postgres")} away`,
  );
}

/** For a server that has opened its store: marks the embedded store of the folder if `DATABASE_URL` is used instead. */
export function markAbandonedStore(place: StorePlace, now: Date, logger: WarningLog): void {
  if (place.databaseUrl === undefined || !holdsStore(place) || existsSync(markOf(place))) return;
  const facts = { database: placeOf(place.databaseUrl), since: now.toISOString() };
  try {
    mkdirSync(place.dataFolder, { recursive: true, mode: 0o700 });
    writeFileSync(markOf(place), `${JSON.stringify(facts)}\n`, { mode: 0o600 });
  } catch (error) {
    logger.warn({ err: error }, "the unused store cannot be marked: a command without DATABASE_URL would change it");
  }
}

/** For a store that was imported into the folder: it is in use. */
export function forgetAbandonedStore(place: StorePlace): void {
  if (place.databaseUrl === undefined) rmSync(markOf(place), { force: true });
}

/** Why the embedded store of the folder must not be opened, and the next step; undefined if it is in use. */
export function abandonedStoreFault(place: StorePlace): string | undefined {
  const path = markOf(place);
  if (place.databaseUrl !== undefined || !existsSync(path) || !holdsStore(place)) return undefined;
  const { database, since } = readMark(path);
  return (
    `the store in ${place.dataDirectory} is not in use: since ${since} the server uses the database ${database}. Set ` +
    `DATABASE_URL to it. To use the folder's store again, remove ${path}`
  );
}

function readMark(path: string): z.output<typeof mark> {
  try {
    return mark.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    return { database: "that DATABASE_URL named", since: "an earlier start" };
  }
}

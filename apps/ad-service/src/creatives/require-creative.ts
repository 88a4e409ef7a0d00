import { statement } from "@intermission/postgres/open-database";
import type { HttpError } from "@intermission/server/http-server";
import { notFound } from "@intermission/server/refuse";
import type { AdDatabase } from "../ad-database.ts";

const knownCreative = statement<{ id: string }>(
  "creatives.known",
  "select creative_id as id from creatives where creative_id = $1",
);

/** Refuses an unknown id with 404. Undefined is skipped. */
export async function requireCreative(database: AdDatabase, creativeId: string | undefined): Promise<void> {
  if (creativeId === undefined) return;
  if ((await database.run(knownCreative, [creativeId])).length === 0) throw unknownCreative(creativeId);
}

export function unknownCreative(creativeId: string): HttpError {
  return notFound(`there is no creative ${creativeId}; see all with: creatives list`);
}

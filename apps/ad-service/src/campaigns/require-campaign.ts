import { statement } from "@intermission/postgres/open-database";
import type { HttpError } from "@intermission/server/http-server";
import { notFound } from "@intermission/server/refuse";
import type { AdDatabase } from "../ad-database.ts";

const knownCampaign = statement<{ id: string }>(
  "campaigns.known",
  "select campaign_id as id from campaigns where campaign_id = $1",
);

/** Refuses an unknown id with 404. Undefined is skipped. */
export async function requireCampaign(database: AdDatabase, campaignId: string | undefined): Promise<void> {
  if (campaignId === undefined) return;
  if ((await database.run(knownCampaign, [campaignId])).length === 0) throw unknownCampaign(campaignId);
}

export function unknownCampaign(campaignId: string): HttpError {
  return notFound(`there is no campaign ${campaignId}; see all with: campaigns list`);
}

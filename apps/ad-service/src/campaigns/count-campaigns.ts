import type { CampaignPhase } from "@intermission/operator-api/campaign-phase";
import type { Database } from "@intermission/postgres/open-database";
import type { StandingsOf } from "./delivered-so-far.ts";
import { readActivePhases } from "./list-campaigns.ts";

interface CountedPhase {
  phase: CampaignPhase;
  count: number;
  /** Of the latest of them. */
  name: string;
}

/** How many active campaigns are in each phase, for screens that show no list of them. */
export async function countCampaigns(
  database: Database,
  { advertiser, now, standingsOf }: { advertiser: string | undefined; now: Date; standingsOf: StandingsOf },
): Promise<CountedPhase[]> {
  const campaigns = await readActivePhases(database, advertiser, { now, standingsOf });
  return [...Map.groupBy(campaigns, ({ phase }) => phase)].flatMap(([phase, [latest, ...others]]) =>
    latest === undefined ? [] : [{ phase, count: 1 + others.length, name: latest.name }],
  );
}

import type { FastifyBaseLogger } from "fastify";
import type { AdDatabase } from "../ad-database.ts";
import { selectCampaigns } from "../campaigns/rows.ts";
import type { CampaignFormat } from "../campaigns/schema.ts";

/** What the chooser sees of a campaign that runs now. */
export interface Candidate {
  campaignId: string;
  /** Of a rewarded campaign, what it shows; empty for a link. */
  creatives: { creativeId: string; weight: number }[];
  landingUrl: string | null;
  weight: number;
}

/** The running campaigns in memory, so that choosing asks no database. */
export interface CampaignSnapshot {
  candidates(format: CampaignFormat): readonly Candidate[];
  /** After a change on this node. Other nodes see it with their next turn, within seconds. */
  refresh(): Promise<void>;
  stop(): Promise<void>;
}

export async function startCampaignSnapshot(deps: {
  database: AdDatabase;
  log: Pick<FastifyBaseLogger, "error">;
  everyMs?: number;
}): Promise<CampaignSnapshot> {
  const { database, log, everyMs = 2000 } = deps;
  let byFormat = await readCandidates(database);
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  const refresh = () => {
    // One after the other: an older answer must never replace a newer one.
    running = running.then(async () => {
      byFormat = await readCandidates(database);
    });
    const result = running;
    running = running.catch(() => {});
    return result;
  };
  const scheduleNext = () => {
    timer = setTimeout(async () => {
      await refresh().catch((error) => log.error(error, "campaigns could not be read again; the last ones serve on"));
      if (!isStopped) scheduleNext();
    }, everyMs);
  };
  scheduleNext();

  return {
    candidates: (format) => byFormat[format],
    refresh,
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}

async function readCandidates(database: AdDatabase): Promise<Record<CampaignFormat, Candidate[]>> {
  const rows = await selectCampaigns(database).where("status", "=", "active").orderBy("campaign_id").execute();
  const candidatesOf = (format: CampaignFormat) =>
    rows
      .filter(({ formats }) => formats.includes(format))
      .map((row) => ({
        campaignId: row.campaign_id,
        creatives: row.creatives.filter(({ isActive }) => isActive),
        landingUrl: row.landing_url,
        weight: row.weight,
      }));
  return { rewarded: candidatesOf("rewarded"), direct_link: candidatesOf("direct_link") };
}

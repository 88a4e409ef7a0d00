import type { FastifyBaseLogger } from "fastify";
import type { AdDatabase } from "../ad-database.ts";
import type { CampaignFormat } from "../campaigns/schema.ts";

/** What the chooser sees of a campaign that runs now. */
export interface Candidate {
  campaignId: string;
  format: CampaignFormat;
  creativeId: string | null;
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
  const rows = await database.query
    .selectFrom("campaigns")
    .select(["campaign_id", "format", "creative_id", "landing_url", "weight"])
    .where("is_active", "=", true)
    .orderBy("campaign_id")
    .execute();
  const candidates = rows.map((row) => ({
    campaignId: row.campaign_id,
    format: row.format,
    creativeId: row.creative_id,
    landingUrl: row.landing_url,
    weight: row.weight,
  }));
  return {
    rewarded: candidates.filter(({ format }) => format === "rewarded"),
    direct_link: candidates.filter(({ format }) => format === "direct_link"),
  };
}

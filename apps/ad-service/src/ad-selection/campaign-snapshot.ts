import type { FastifyBaseLogger } from "fastify";
import type { AdDatabase } from "../ad-database.ts";
import type { Campaign } from "../campaigns/rows.ts";
import type { CampaignFormat } from "../campaigns/schema.ts";
import type { AdRequest } from "./ad-request.ts";
import { type CampaignIndex, indexCampaigns } from "./campaign-index.ts";
import type { CampaignState, Delivered } from "./campaign-state.ts";
import { type Choice, chooseAd } from "./choose-ad.ts";
import { deliveredToday } from "./delivered-lately.ts";
import { flatCurve } from "./pacing.ts";
import { campaignsVersion, type RunningCampaigns, readCampaigns } from "./read-campaigns.ts";

/** The running campaigns in memory, so that choosing an ad needs no database query. */
export interface CampaignSnapshot {
  choose(request: AdRequest, at: { now: Date; random: () => number }): Choice;
  /**
   * Counts a served ad: on this node immediately, on the other nodes with their next refresh. Call the returned function if
   * the ad is not used after all.
   */
  hold(campaignId: string, format: CampaignFormat): () => void;
  /** Applies what the database has just returned, so that this node respects it before its next refresh. */
  correct(state: CampaignState, found: Pick<CampaignState, "today" | "earlier" | "viewsInFlight">): void;
  find(campaignId: string): Campaign | undefined;
  index(): CampaignIndex;
  /** Call after a change on this node. Other nodes see the change with their next refresh, within seconds. */
  refresh(): Promise<void>;
  stop(): Promise<void>;
}

interface GivenAd {
  campaignId: string;
  format: CampaignFormat;
}

/** The traffic curve and the sums of earlier days are reread at this interval, even if no campaign has changed. */
const REREAD_MS = 600_000;

export async function startCampaignSnapshot(deps: {
  database: AdDatabase;
  log: Pick<FastifyBaseLogger, "error">;
  everyMs?: number;
  now?: () => Date;
}): Promise<CampaignSnapshot> {
  const { database, log, everyMs = 2000, now = () => new Date() } = deps;
  let running: RunningCampaigns & { version: string; at: number; day: string } = {
    ...{ campaigns: [], earlier: new Map(), curve: flatCurve, version: "", at: 0, day: "" },
  };
  let index = indexCampaigns([], { now: now(), curve: flatCurve });
  let byId = new Map<string, CampaignState>();
  /** Served on this node since the last read began. */
  let given = new Set<GivenAd>();
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let turn: Promise<void> = Promise.resolve();

  async function read(): Promise<void> {
    const at = now();
    const day = at.toISOString().slice(0, 10);
    const version = await campaignsVersion(database);
    if (version !== running.version || day !== running.day || at.getTime() - running.at > REREAD_MS) {
      running = { ...(await readCampaigns(database, at)), version, day, at: at.getTime() };
    }
    // An ad served during the read may or may not be in its result: counting it twice is safe, missing it is not.
    given = new Set();
    const lately = new Map((await database.run(deliveredToday, [at])).map((row) => [row.campaignId, row]));
    const states = running.campaigns.map((campaign): CampaignState => {
      const { viewsInFlight = 0, ...today } = lately.get(campaign.campaignId) ?? {};
      return { campaign, today: { ...nothing, ...today }, earlier: earlierOf(campaign), viewsInFlight };
    });
    byId = new Map(states.map((state) => [state.campaign.campaignId, state]));
    for (const ad of given) count(ad);
    index = indexCampaigns(states, { now: at, curve: running.curve });
  }

  const earlierOf = ({ campaignId }: Campaign): Delivered => ({ ...nothing, ...running.earlier.get(campaignId) });

  function count({ campaignId, format }: GivenAd, ads = 1): void {
    const state = byId.get(campaignId);
    if (!state) return;
    if (format === "rewarded") state.viewsInFlight += ads;
    else {
      state.today.clicks += ads;
      state.today.spentMicros += ads * state.campaign.clickPriceMicros;
    }
  }

  const refresh = () => {
    // Reads run one after another, so that an older result never replaces a newer one.
    turn = turn.then(read);
    const result = turn;
    turn = turn.catch(() => {});
    return result;
  };
  const scheduleNext = () => {
    timer = setTimeout(async () => {
      await refresh().catch((error) =>
        log.error(error, "refreshing the campaigns failed; the last snapshot is still used"),
      );
      if (!isStopped) scheduleNext();
    }, everyMs);
  };
  await read();
  scheduleNext();

  return {
    choose: (request, at) => chooseAd(index, request, at),
    hold(campaignId, format) {
      const ad = { campaignId, format };
      given.add(ad);
      count(ad);
      return () => {
        // An ad from before the last read is no longer in `given`, so there is nothing to subtract.
        if (given.delete(ad)) count(ad, -1);
      };
    },
    correct(state, found) {
      Object.assign(state, found);
    },
    find: (campaignId) => byId.get(campaignId)?.campaign,
    index: () => index,
    refresh,
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await turn;
    },
  };
}

const nothing: Delivered = { views: 0, clicks: 0, spentMicros: 0 };

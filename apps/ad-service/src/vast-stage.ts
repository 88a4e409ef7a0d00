import { randomBytes } from "node:crypto";
import { statement } from "@intermission/postgres/open-database";
import type { FastifyInstance } from "fastify";
import { adClickRoutes } from "./ad-clicks/routes.ts";
import type { AdDatabase } from "./ad-database.ts";
import { sessionRoutes } from "./ad-sessions/routes.ts";
import { openSessionStage, type StageDeps } from "./ad-sessions/session-stage.ts";
import { addCampaign, type CampaignDraft } from "./campaigns/add-campaign.ts";
import { conversionRoutes } from "./conversions/routes.ts";
import { addVastTag } from "./creatives/add-vast-tag.ts";
import { callTrackers } from "./vast/call-trackers.ts";
import type { CallOutcome } from "./vast/schema.ts";

interface StoredCall {
  event: string;
  url: string;
  attempts: number;
  outcome: CallOutcome | null;
}

const readCalls = statement<StoredCall>(
  "test.tracker-calls",
  "select event, url, attempts, outcome from tracker_calls where bot_id = $1 order by call_id",
);
const log = { error: (fault: unknown) => console.error(fault) };

function mount(app: FastifyInstance, deps: StageDeps): void {
  sessionRoutes(app, deps);
  adClickRoutes(app, deps);
  conversionRoutes(app, deps);
}

/** A bot beside which advertisers' tags can be sold; the house ad of the session's stage is what is left without them. */
export async function openVastStage(database: AdDatabase, settings?: Parameters<typeof openSessionStage>[2]) {
  const stage = await openSessionStage(database, mount, settings);
  const now = () => stage.clock.now;
  return {
    ...stage,
    async sellTag(url: string, changes: Partial<CampaignDraft> = {}): Promise<string> {
      const tag = await addVastTag(database, { url, isPlainHttpAllowed: true, now: now() });
      if (tag.outcome !== "added") throw new Error(tag.message);
      const campaignId = `cmp_${randomBytes(6).toString("hex")}`;
      const added = await addCampaign(database, {
        ...{ campaignId, name: "Tag", advertiser: "Network", formats: ["rewarded"], priority: "sponsorship" },
        ...{ targeting: { bots: [stage.botId] }, creativeIds: [tag.creative.creativeId], now: now(), ...changes },
      });
      if (added.outcome !== "added") throw new Error(added.outcome);
      await stage.campaigns.refresh();
      return campaignId;
    },
    callTrackers: (atMost = 100) => callTrackers({ database, requests: stage.requests, log, now }, { atMost }),
    calls: () => database.run(readCalls, [stage.botId]),
  };
}

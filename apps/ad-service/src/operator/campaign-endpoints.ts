import { randomBytes } from "node:crypto";
import bs58 from "bs58";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { AdDatabase } from "../ad-database.ts";
import { addCampaign } from "../campaigns/add-campaign.ts";
import { listCampaigns } from "../campaigns/list-campaigns.ts";
import { findCampaign } from "../campaigns/rows.ts";
import {
  pauseCampaign,
  resumeCampaign,
  type UpdateCampaignOutcome,
  updateCampaign,
} from "../campaigns/update-campaign.ts";
import { givenFields, parseRequest } from "../parse-request.ts";
import { invalid, notFound } from "./refuse.ts";

export interface CampaignEndpointDeps {
  database: AdDatabase;
  /** Told of each change, so that this node serves it at once. */
  campaigns: { refresh(): Promise<void> };
  now: () => Date;
}

// What a campaign must be is the verb's to say; here only the kinds of its fields.
const fields = z.strictObject({
  name: z.string(),
  advertiser: z.string(),
  landingUrl: z.string().optional(),
  callToAction: z.string().optional(),
  weight: z.number(),
  priceMicros: z.number(),
});
const draft = fields.extend({
  format: z.enum(["rewarded", "direct_link"]),
  creativeId: z.string().optional(),
  weight: z.number().default(1),
  priceMicros: z.number().default(0),
});
const changes = fields.partial();
const params = z.object({ campaignId: z.string().max(64) });

export function campaignEndpoints(scope: FastifyInstance, { database, campaigns, now }: CampaignEndpointDeps): void {
  const answer = async (outcome: UpdateCampaignOutcome, campaignId: string) => {
    if (outcome.outcome === "unknown-campaign") throw unknownCampaign(campaignId);
    if (outcome.outcome === "invalid") throw invalid(outcome.message);
    await campaigns.refresh();
    return outcome.campaign;
  };

  scope.post("/campaigns", async (request, reply) => {
    const campaignId = `cmp_${bs58.encode(randomBytes(9))}`;
    const added = await addCampaign(database, { ...parseRequest(draft, request.body), campaignId, now: now() });
    if (added.outcome === "invalid") throw invalid(added.message);
    if (added.outcome === "unknown-creative") throw invalid("there is no such creative; upload the video first");
    await campaigns.refresh();
    return reply.code(201).send(added.campaign);
  });

  scope.get("/campaigns", async () => ({ campaigns: await listCampaigns(database) }));

  scope.get("/campaigns/:campaignId", async (request) => {
    const { campaignId } = parseRequest(params, request.params);
    const campaign = await findCampaign(database, campaignId);
    if (!campaign) throw unknownCampaign(campaignId);
    return campaign;
  });

  scope.patch("/campaigns/:campaignId", async (request) => {
    const { campaignId } = parseRequest(params, request.params);
    const given = givenFields(parseRequest(changes, request.body));
    if (Object.keys(given).length === 0) throw invalid("name at least one setting to change");
    return answer(await updateCampaign(database, { campaignId, changes: given, now: now() }), campaignId);
  });

  scope.post("/campaigns/:campaignId/pause", async (request) => {
    const { campaignId } = parseRequest(params, request.params);
    return answer(await pauseCampaign(database, { campaignId, now: now() }), campaignId);
  });

  scope.post("/campaigns/:campaignId/resume", async (request) => {
    const { campaignId } = parseRequest(params, request.params);
    return answer(await resumeCampaign(database, { campaignId, now: now() }), campaignId);
  });
}

function unknownCampaign(campaignId: string) {
  return notFound(`there is no campaign ${campaignId}; see all with: campaigns list`);
}

import { randomBytes } from "node:crypto";
import type { Database } from "@intermission/postgres/open-database";
import { givenFields, parseRequest } from "@intermission/server/parse-request";
import { invalid, invalidField, notFound } from "@intermission/server/refuse";
import bs58 from "bs58";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { unknownCreative } from "../creatives/creatives.ts";
import { campaignFormats, campaignSettings } from "./campaign-settings.ts";
import { findCampaign, listCampaigns, unknownCampaign } from "./campaigns.ts";
import {
  type AttachCreativeOutcome,
  addCampaign,
  attachCreative,
  creativeSettings,
  detachCreative,
  setCampaignStatus,
  type UpdateCampaignOutcome,
  updateCampaign,
} from "./change-campaign.ts";
import type { Targeting } from "./targeting.ts";

export interface CampaignOperatorDeps {
  database: Database;
  /** Refreshed after each change, so that this node serves it immediately. */
  campaigns: { refresh(): Promise<void> };
  /** Refuses a bot that does not exist. */
  requireBots(botIds: readonly (string | undefined)[]): Promise<void>;
  now: () => Date;
}

const changes = campaignSettings.partial();
const draft = changes.extend({
  ...campaignSettings.pick({ name: true, advertiser: true }).shape,
  formats: campaignFormats,
  creativeIds: z.array(z.string().max(64)).max(100).default([]),
});
const params = z.object({ campaignId: z.string().max(64) });
const creativeParams = params.extend({ creativeId: z.string().max(64) });
const listing = z.object({ archived: z.stringbool().default(false) });
const statusAfter = { pause: "paused", resume: "active", archive: "archived" } as const;

export function campaignOperatorRoutes(scope: FastifyInstance, deps: CampaignOperatorDeps): void {
  const { database, campaigns, requireBots, now } = deps;
  creativesOfCampaign(scope, deps);
  const answer = async (outcome: UpdateCampaignOutcome, campaignId: string) => {
    if (outcome.outcome === "unknown-campaign") throw unknownCampaign(campaignId);
    if (outcome.outcome === "archived") throw invalid(`campaign ${campaignId} is archived, which cannot be undone`);
    if (outcome.outcome === "invalid") throw invalidField(outcome.fault.field, outcome.fault.message);
    await campaigns.refresh();
    return outcome.campaign;
  };

  scope.post("/campaigns", async (request, reply) => {
    const campaignId = `cmp_${bs58.encode(randomBytes(9))}`;
    const given = givenFields(parseRequest(draft, request.body));
    await requireBots(botsOf(given.targeting));
    const added = await addCampaign(database, { ...given, campaignId, now: now() });
    if (added.outcome === "invalid") throw invalidField(added.fault.field, added.fault.message);
    if (added.outcome === "unknown-creative") throw unknownCreative(added.creativeId);
    await campaigns.refresh();
    return reply.code(201).send(added.campaign);
  });

  scope.get("/campaigns", async (request) => {
    const { archived: hasArchived } = parseRequest(listing, request.query);
    return { campaigns: await listCampaigns(database, { hasArchived }) };
  });

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
    await requireBots(botsOf(given.targeting));
    return answer(await updateCampaign(database, { campaignId, changes: given, now: now() }), campaignId);
  });

  for (const [verb, status] of Object.entries(statusAfter)) {
    scope.post(`/campaigns/:campaignId/${verb}`, async (request) => {
      const { campaignId } = parseRequest(params, request.params);
      return answer(await setCampaignStatus(database, { campaignId, status, now: now() }), campaignId);
    });
  }
}

/** The videos of a campaign. */
function creativesOfCampaign(scope: FastifyInstance, { database, campaigns, now }: CampaignOperatorDeps): void {
  const answer = async (outcome: AttachCreativeOutcome, { campaignId, creativeId }: z.infer<typeof creativeParams>) => {
    if (outcome.outcome === "unknown-campaign") throw unknownCampaign(campaignId);
    if (outcome.outcome === "unknown-creative")
      throw notFound(`there is no creative ${creativeId} to attach or detach here`);
    if (outcome.outcome === "invalid") throw invalid(outcome.message);
    await campaigns.refresh();
    return outcome.campaign;
  };
  scope.post("/campaigns/:campaignId/creatives/:creativeId/attach", async (request) => {
    const ids = parseRequest(creativeParams, request.params);
    const settings = parseRequest(creativeSettings, request.body);
    return answer(await attachCreative(database, { ...ids, settings, now: now() }), ids);
  });
  scope.post("/campaigns/:campaignId/creatives/:creativeId/detach", async (request) => {
    const ids = parseRequest(creativeParams, request.params);
    return answer(await detachCreative(database, { ...ids, now: now() }), ids);
  });
}

/** With a mistyped id a campaign would be shown to no user, or to all users. */
function botsOf(target: Targeting | undefined): string[] {
  return [...(target?.bots ?? []), ...(target?.excludedBots ?? [])];
}

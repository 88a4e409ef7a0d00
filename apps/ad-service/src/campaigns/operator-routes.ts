import { randomBytes } from "node:crypto";
import type { Database } from "@intermission/postgres/open-database";
import { type CheckedScope, refusals } from "@intermission/server/checked-routes";
import { confirmation, givenFields } from "@intermission/server/parse-request";
import { invalid, invalidField, notFound, requireConfirmation } from "@intermission/server/refuse";
import bs58 from "bs58";
import { z } from "zod";
import { unknownCreative } from "../creatives/creatives.ts";
import { campaignFormats, campaignSettings, type Targeting } from "./campaign-settings.ts";
import { campaignWarnings, readWarningFacts } from "./campaign-warnings.ts";
import { campaign, findCampaign, listCampaigns, unknownCampaign } from "./campaigns.ts";
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
import { deliveredSoFar, withDelivered } from "./delivered-so-far.ts";

export interface CampaignOperatorDeps {
  database: Database;
  /** Refreshed after each change, so that this node serves it immediately. */
  campaigns: { refresh(): Promise<void> };
  /** Refuses a bot that does not exist. */
  requireBots(botIds: readonly (string | undefined)[]): Promise<void>;
  /** Of all prices (ISO 4217). */
  currency: string;
  now: () => Date;
}

const changes = campaignSettings.partial().meta({ examples: [{ dailyBudgetMicros: 8_000_000, endsAt: null }] });
const draft = changes
  .extend({
    ...campaignSettings.pick({ name: true, advertiser: true }).shape,
    formats: campaignFormats,
    creativeIds: z.array(z.string().max(64)).max(100).default([]),
  })
  .meta({
    examples: [
      {
        advertiser: "Shop",
        name: "Spring sale",
        formats: ["rewarded"],
        creativeIds: ["crv_5dQ1"],
        viewPriceMicros: 12_000,
        dailyBudgetMicros: 5_000_000,
        targeting: { languages: ["en"] },
      },
    ],
  });
const params = z.object({ campaignId: z.string().max(64) });
const creativeParams = params.extend({ creativeId: z.string().max(64) });
const response = { 200: campaign };
const operations = {
  add: {
    operationId: "addCampaign",
    description: "Adds a campaign; it serves as soon as it is active and has a creative.",
    querystring: confirmation,
    body: draft,
    response: { 201: campaign, ...refusals(409) },
  },
  list: {
    operationId: "listCampaigns",
    description: "Lists the campaigns and how far each is, the archived ones only when asked for.",
    querystring: z.object({ archived: z.stringbool().default(false) }),
    response: { 200: z.object({ currency: z.string(), campaigns: z.array(campaign.extend(deliveredSoFar.shape)) }) },
  },
  show: { operationId: "showCampaign", description: "Returns a campaign.", params, response },
  update: {
    operationId: "updateCampaign",
    description: "Changes the given settings of a campaign; null removes one.",
    params,
    querystring: confirmation,
    body: changes,
    response: { ...response, ...refusals(409) },
  },
  attach: {
    operationId: "attachCreative",
    description: "Adds a creative to a campaign, or changes how it is shown there.",
    params: creativeParams,
    body: creativeSettings.meta({ examples: [{ weight: 2, label: "Shop Ltd" }] }),
    response,
  },
  detach: {
    operationId: "detachCreative",
    description: "Removes a creative from a campaign.",
    params: creativeParams,
    response,
  },
};
const statusChanges = {
  pause: { status: "paused", operationId: "pauseCampaign", description: "Stops a campaign until it is resumed." },
  resume: { status: "active", operationId: "resumeCampaign", description: "Lets a paused campaign serve again." },
  archive: {
    status: "archived",
    operationId: "archiveCampaign",
    description: "Ends a campaign for good; its statistics stay.",
  },
} as const;

export function campaignOperatorRoutes(scope: CheckedScope, deps: CampaignOperatorDeps): void {
  const { database, campaigns, currency, requireBots, now } = deps;
  creativesOfCampaign(scope, deps);
  const answer = async (outcome: UpdateCampaignOutcome, campaignId: string) => {
    if (outcome.outcome === "unknown-campaign") throw unknownCampaign(campaignId);
    if (outcome.outcome === "archived") throw invalid(`campaign ${campaignId} is archived, which cannot be undone`);
    if (outcome.outcome === "invalid") throw invalidField(outcome.fault.field, outcome.fault.message);
    await campaigns.refresh();
    return outcome.campaign;
  };

  scope.post("/campaigns", { schema: operations.add }, async (request, reply) => {
    const campaignId = `cmp_${bs58.encode(randomBytes(9))}`;
    const given = givenFields(request.body);
    await requireBots(botsOf(given.targeting));
    const facts = await readWarningFacts(database, { campaignId: undefined, now: now() });
    const warnings = campaignWarnings({ ...facts, before: undefined, changes: given, now: now() });
    requireConfirmation(warnings, { isConfirmed: request.query.confirmed });
    const added = await addCampaign(database, { ...given, campaignId, now: now() });
    if (added.outcome === "invalid") throw invalidField(added.fault.field, added.fault.message);
    if (added.outcome === "unknown-creative") throw unknownCreative(added.creativeId);
    await campaigns.refresh();
    return reply.code(201).send(added.campaign);
  });

  scope.get("/campaigns", { schema: operations.list }, async (request) => {
    const { archived: hasArchived } = request.query;
    const listed = await listCampaigns(database, { hasArchived });
    return { currency, campaigns: await withDelivered(database, listed, now()) };
  });

  scope.get("/campaigns/:campaignId", { schema: operations.show }, async (request) => {
    const { campaignId } = request.params;
    const campaign = await findCampaign(database, campaignId);
    if (!campaign) throw unknownCampaign(campaignId);
    return campaign;
  });

  scope.patch("/campaigns/:campaignId", { schema: operations.update }, async (request) => {
    const { campaignId } = request.params;
    const given = givenFields(request.body);
    if (Object.keys(given).length === 0) throw invalid("name at least one setting to change");
    await requireBots(botsOf(given.targeting));
    const before = await findCampaign(database, campaignId);
    if (!before) throw unknownCampaign(campaignId);
    const facts = await readWarningFacts(database, { campaignId, now: now() });
    const warnings = campaignWarnings({ ...facts, before, changes: given, now: now() });
    requireConfirmation(warnings, { isConfirmed: request.query.confirmed });
    return answer(await updateCampaign(database, { campaignId, changes: given, now: now() }), campaignId);
  });

  for (const [verb, { status, ...operation }] of Object.entries(statusChanges)) {
    scope.post(`/campaigns/:campaignId/${verb}`, { schema: { ...operation, params, response } }, async (request) => {
      const { campaignId } = request.params;
      return answer(await setCampaignStatus(database, { campaignId, status, now: now() }), campaignId);
    });
  }
}

/** The videos of a campaign. */
function creativesOfCampaign(scope: CheckedScope, { database, campaigns, now }: CampaignOperatorDeps): void {
  const answer = async (outcome: AttachCreativeOutcome, { campaignId, creativeId }: z.infer<typeof creativeParams>) => {
    if (outcome.outcome === "unknown-campaign") throw unknownCampaign(campaignId);
    if (outcome.outcome === "unknown-creative")
      throw notFound(`there is no creative ${creativeId} to attach or detach here`);
    if (outcome.outcome === "invalid") throw invalid(outcome.message);
    await campaigns.refresh();
    return outcome.campaign;
  };
  scope.post("/campaigns/:campaignId/creatives/:creativeId/attach", { schema: operations.attach }, async (request) => {
    const ids = request.params;
    const settings = request.body;
    return answer(await attachCreative(database, { ...ids, settings, now: now() }), ids);
  });
  scope.post("/campaigns/:campaignId/creatives/:creativeId/detach", { schema: operations.detach }, async (request) => {
    const ids = request.params;
    return answer(await detachCreative(database, { ...ids, now: now() }), ids);
  });
}

/** With a mistyped id a campaign would be shown to no user, or to all users. */
function botsOf(target: Targeting | undefined): string[] {
  return [...(target?.bots ?? []), ...(target?.excludedBots ?? [])];
}

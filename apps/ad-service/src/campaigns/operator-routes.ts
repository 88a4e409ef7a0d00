import type { CampaignStatus } from "@intermission/operator-api/campaign-words";
import {
  type Campaign,
  type CreativeSettings,
  campaignRoutes,
  defaultSettings,
} from "@intermission/operator-api/campaigns";
import { fieldFault } from "@intermission/operator-api/field-forms";
import type { Database } from "@intermission/postgres/open-database";
import { authorOf } from "@intermission/server/author-of";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { definedFields } from "@intermission/server/parse-request";
import { type ConfirmableEffect, invalidField, notFound, requireConfirmation } from "@intermission/server/refuse";
import { serveOperatorRoutes } from "@intermission/server/serve-operator-routes";
import type { FastifyRequest } from "fastify";
import { requireAdvertiser } from "../advertisers/advertisers.ts";
import { readState } from "../audit/object-states.ts";
import { findAuditEntry } from "../audit/read-entries.ts";
import {
  addedBefore,
  addedCampaign,
  botsOf,
  changedCampaign,
  faultyCampaign,
  requireCountries,
  warningsOf,
} from "./campaign-answers.ts";
import { campaignWarnings, readWarningFacts } from "./campaign-warnings.ts";
import { findCampaign, unknownCampaign } from "./campaigns.ts";
import {
  type AttachCreativeOutcome,
  addCampaign,
  attachCreative,
  detachCreative,
  setCampaignStatus,
  type UpdateCampaignOutcome,
  updateCampaign,
} from "./change-campaign.ts";
import { countCampaigns } from "./count-campaigns.ts";
import type { StandingsOf } from "./delivered-so-far.ts";
import { type ForecastSettings, forecast, readForecastFacts } from "./forecast.ts";
import { listCampaigns } from "./list-campaigns.ts";
import { raiseBudget } from "./raise-budget.ts";
import { newCampaignId } from "./repeated-campaign.ts";
import { planRevert } from "./revert-change.ts";

export interface CampaignOperatorDeps {
  database: Database;
  /** Refreshed after each change, so that this node serves it immediately. */
  campaigns: { refresh(): Promise<void> };
  /** Refuses a bot that does not exist. */
  requireBots(botIds: readonly (string | undefined)[]): Promise<void>;
  /** What the advertisers of campaigns have left. */
  standingsOf: StandingsOf;
  /** Of all prices (ISO 4217). */
  currency: string;
  /** Whether a source of countries is configured: without one, no campaign can target countries. */
  hasCountries: boolean;
  /** The caller's advertiser, who may do less. Undefined: an operator. */
  submitterOf(request: FastifyRequest): string | undefined;
  now: () => Date;
}

export function campaignOperatorRoutes(scope: CheckedScope, deps: CampaignOperatorDeps): void {
  const { database, campaigns, currency, hasCountries, requireBots, standingsOf, now } = deps;
  const answer = async (outcome: UpdateCampaignOutcome, campaignId: string) => {
    const changed = changedCampaign(outcome, campaignId);
    await campaigns.refresh();
    return changed;
  };

  const changeStatus = async (http: FastifyRequest, campaignId: string, status: CampaignStatus) => {
    const by = deps.submitterOf(http) === undefined ? ("operator" as const) : ("advertiser" as const);
    const change = { campaignId, status, by, author: authorOf(http), now: now() };
    return answer(await setCampaignStatus(database, change), campaignId);
  };

  serveOperatorRoutes(scope, campaignRoutes, {
    async addCampaign(request) {
      const { idempotencyKey, ...settings } = definedFields(request.body);
      const campaignId = newCampaignId(idempotencyKey);
      const before = idempotencyKey === undefined ? undefined : await findCampaign(database, campaignId);
      if (before !== undefined) return addedBefore(before, settings);
      await requireBots(botsOf(settings.targeting));
      requireCountries(settings.targeting, hasCountries);
      const facts = await readWarningFacts(database, { campaignId: undefined, now: now() });
      const warnings = campaignWarnings({ ...facts, before: undefined, changes: settings, now: now() });
      requireConfirmation(warnings, { isConfirmed: request.query.confirmed });
      const draft = { ...settings, campaignId, author: authorOf(request.http), now: now() };
      const added = addedCampaign(await addCampaign(database, draft), settings);
      await campaigns.refresh();
      return added;
    },

    async listCampaigns(request) {
      const { rows, next, total } = await listCampaigns(database, request.query, { now: now(), standingsOf });
      return { currency, campaigns: rows, next, total };
    },

    async countCampaigns({ query: { advertiser } }) {
      return { phases: await countCampaigns(database, { advertiser, now: now(), standingsOf }) };
    },

    forecastViews: ({ body }) => forecastOf(deps, { ...defaultSettings, ...definedFields(body) }),

    showCampaign: ({ params }) => shownCampaign(database, params.campaignId),

    async updateCampaign(request) {
      const { campaignId } = request.params;
      const { confirmed, expectedUpdatedAt } = request.query;
      const changes = definedFields(request.body);
      await requireBots(botsOf(changes.targeting));
      requireCountries(changes.targeting, hasCountries);
      requireConfirmation(await warningsOf(deps, campaignId, changes), { isConfirmed: confirmed });
      const change = { campaignId, changes, expectedUpdatedAt, author: authorOf(request.http), now: now() };
      return answer(await updateCampaign(database, change), campaignId);
    },

    async raiseBudget({ params: { campaignId }, query: { expectedUpdatedAt }, body: budgets, http }) {
      const change = { campaignId, budgets, expectedUpdatedAt, author: authorOf(http), now: now() };
      return answer(await raiseBudget(database, change), campaignId);
    },
    async revertCampaign({ params: { campaignId }, query: { confirmed: isConfirmed }, body: { entryId }, http }) {
      const changes = await confirmedRevert(deps, { campaignId, entryId, isConfirmed });
      const change = { campaignId, changes, author: authorOf(http), now: now() };
      return answer(await updateCampaign(database, change), campaignId);
    },

    pauseCampaign: ({ params, http }) => changeStatus(http, params.campaignId, "paused"),
    resumeCampaign: ({ params, http }) => changeStatus(http, params.campaignId, "active"),
    archiveCampaign: ({ params, http }) => changeStatus(http, params.campaignId, "archived"),

    async attachCreative({ params, body: settings, http }) {
      if (deps.submitterOf(http) !== undefined) refuseTexts(settings);
      const change = { ...params, settings, author: authorOf(http), now: now() };
      return attached(campaigns, await attachCreative(database, change), params);
    },
    async detachCreative({ params, http }) {
      const change = { ...params, author: authorOf(http), now: now() };
      return attached(campaigns, await detachCreative(database, change), params);
    },
  });
}

async function shownCampaign(database: Database, campaignId: string): Promise<Campaign> {
  const campaign = await findCampaign(database, campaignId);
  if (!campaign) throw unknownCampaign(campaignId);
  return campaign;
}

async function forecastOf(
  { database, currency, hasCountries, now }: CampaignOperatorDeps,
  settings: ForecastSettings & { campaignId?: string },
) {
  requireCountries(settings.targeting, hasCountries);
  if (settings.campaignId !== undefined) await shownCampaign(database, settings.campaignId);
  return { currency, ...forecast(settings, await readForecastFacts(database, { ...settings, now: now() })) };
}

/** What brings back the state before a change, once the effects that are rarely meant are confirmed. */
async function confirmedRevert(
  deps: CampaignOperatorDeps,
  { isConfirmed, ...of }: { campaignId: string; entryId: string; isConfirmed: boolean },
) {
  const { changes, changedSince } = await readRevert(deps.database, of);
  const { status: _, ...settings } = changes;
  await deps.requireBots(botsOf(settings.targeting));
  const warnings = await warningsOf(deps, of.campaignId, settings);
  requireConfirmation([...changedSince, ...warnings], { isConfirmed });
  return changes;
}

/** The settings that undo a change, and those of them that were changed again since. */
async function readRevert(database: Database, { campaignId, entryId }: { campaignId: string; entryId: string }) {
  const current = await readState(database, { kind: "campaign", id: campaignId });
  if (current === null) throw unknownCampaign(campaignId);
  const entry = await findAuditEntry(database, { entryId, objectKind: "campaign", objectId: campaignId });
  if (entry === undefined)
    throw notFound(`there is no entry ${entryId} about ${campaignId}; see them with: audit list`);
  const plan = planRevert(entry, JSON.parse(current) as Record<string, unknown>);
  if (plan.outcome === "nothing-to-revert") {
    const message = "is of a change that set no setting and no status: only these are brought back";
    throw invalidField("entryId", message, fieldFault("REVERT_NOTHING"));
  }
  if (plan.outcome === "refused") {
    const message = `cannot be brought back, since ${plan.field} ${plan.message}`;
    throw invalidField("entryId", message, fieldFault("REVERT_REFUSED", { setting: plan.field }));
  }
  const { settings, status, advertiserId, changedSince } = plan;
  const advertiser = advertiserId && (await requireAdvertiser(database, advertiserId)).name;
  const changes = { ...settings, ...(status && { status }), ...(advertiser && { advertiser }) };
  return { changes, changedSince: changedSince.map((field) => overwritten(field)) };
}

function overwritten(field: string): ConfirmableEffect {
  const message = `${field} was changed again since; this overwrites the later value`;
  return { field, message, effect: fieldFault("CHANGED_SINCE", { setting: field }) };
}

function refuseTexts(settings: CreativeSettings): void {
  for (const field of ["label", "callToAction"] as const) {
    if (settings[field] === undefined) continue;
    const message = "is set by the operator only, since it is shown beside the video without a review";
    throw invalidField(field, message, fieldFault("OPERATOR_ONLY"));
  }
}

interface CreativeOfCampaign {
  campaignId: string;
  creativeId: string;
}

/** The campaign with the creative attached or detached, which this node serves from now on. */
async function attached(
  campaigns: CampaignOperatorDeps["campaigns"],
  outcome: AttachCreativeOutcome,
  { campaignId, creativeId }: CreativeOfCampaign,
) {
  if (outcome.outcome === "unknown-campaign") throw unknownCampaign(campaignId);
  if (outcome.outcome === "unknown-creative")
    throw notFound(`there is no creative ${creativeId} to attach or detach here`);
  if (outcome.outcome === "invalid") throw faultyCampaign(outcome.fault);
  await campaigns.refresh();
  return outcome.campaign;
}

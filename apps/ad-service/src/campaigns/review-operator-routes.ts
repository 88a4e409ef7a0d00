import { campaignReviewRoutes } from "@intermission/operator-api/campaign-reviews";
import { authorOf } from "@intermission/server/author-of";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { definedFields } from "@intermission/server/parse-request";
import { requireConfirmation } from "@intermission/server/refuse";
import { serveOperatorRoutes } from "@intermission/server/serve-operator-routes";
import { requireAdvertiser } from "../advertisers/advertisers.ts";
import { addedBefore, addedCampaign, changedCampaign, requireCountries, warningsOf } from "./campaign-answers.ts";
import { campaignWarnings, readWarningFacts } from "./campaign-warnings.ts";
import { findCampaign, unknownCampaign } from "./campaigns.ts";
import { addCampaign, type UpdateCampaignOutcome } from "./change-campaign.ts";
import type { CampaignOperatorDeps } from "./operator-routes.ts";
import { newCampaignId } from "./repeated-campaign.ts";
import { decideCampaign, reviewEffects, reviseCampaign, submitCampaign, type Tell } from "./review-campaign.ts";

interface Deps extends Pick<CampaignOperatorDeps, "database" | "campaigns" | "hasCountries" | "now"> {
  tell: Tell;
}

/** Routes of advertisers' drafts and of operators' decisions about them. */
export function campaignReviewOperatorRoutes(scope: CheckedScope, deps: Deps): void {
  const { database, campaigns, hasCountries, now } = deps;
  const answer = async (outcome: UpdateCampaignOutcome, campaignId: string) => {
    const changed = changedCampaign(outcome, campaignId);
    await campaigns.refresh();
    return changed;
  };

  serveOperatorRoutes(scope, campaignReviewRoutes, {
    async draftCampaign({ query, body, http }) {
      const { advertiserId } = await requireAdvertiser(database, query.advertiser);
      const { idempotencyKey, ...settings } = { ...definedFields(body), advertiser: advertiserId };
      const campaignId = newCampaignId(idempotencyKey);
      const before = idempotencyKey === undefined ? undefined : await findCampaign(database, campaignId);
      if (before !== undefined) return addedBefore(before, settings);
      requireCountries(settings.targeting, hasCountries);
      const facts = await readWarningFacts(database, { campaignId: undefined, now: now() });
      const { advertiser: _, ...changes } = settings;
      const warnings = campaignWarnings({ ...facts, before: undefined, changes, now: now() });
      requireConfirmation(warnings, { isConfirmed: query.confirmed });
      const draft = { ...settings, campaignId, as: "draft", author: authorOf(http), now: now() } as const;
      return addedCampaign(await addCampaign(database, draft), settings);
    },

    async reviseCampaign({ params: { campaignId }, query: { confirmed, expectedUpdatedAt }, body, http }) {
      const changes = definedFields(body);
      requireCountries(changes.targeting, hasCountries);
      const before = await findCampaign(database, campaignId);
      if (before === undefined) throw unknownCampaign(campaignId);
      const effects = [...reviewEffects(before, changes), ...(await warningsOf(deps, campaignId, changes))];
      requireConfirmation(effects, { isConfirmed: confirmed });
      const change = { campaignId, changes, expectedUpdatedAt, author: authorOf(http), now: now() };
      return answer(await reviseCampaign(database, change), campaignId);
    },

    async submitCampaign({ params: { campaignId }, http }) {
      const change = { campaignId, author: authorOf(http), now: now() };
      return answer(await submitCampaign(database, change), campaignId);
    },

    async approveCampaign({ params: { campaignId }, body, http }) {
      const { expectedUpdatedAt, ...settings } = body;
      const decision = { decision: "approve", settings: definedFields(settings) } as const;
      const change = { campaignId, decision, expectedUpdatedAt, author: authorOf(http), now: now() };
      return answer(await decideCampaign(deps, change), campaignId);
    },

    async refuseCampaign({ params: { campaignId }, body: { expectedUpdatedAt, reason }, http }) {
      const decision = { decision: "refuse", reason } as const;
      const change = { campaignId, decision, expectedUpdatedAt, author: authorOf(http), now: now() };
      return answer(await decideCampaign(deps, change), campaignId);
    },
  });
}

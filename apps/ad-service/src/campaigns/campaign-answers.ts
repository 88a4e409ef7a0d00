import type { Campaign, CampaignSettings, Targeting } from "@intermission/operator-api/campaigns";
import { fieldFault } from "@intermission/operator-api/field-forms";
import type { Database } from "@intermission/postgres/open-database";
import type { HttpError } from "@intermission/server/http-server";
import { conflict, invalidField } from "@intermission/server/refuse";
import { unknownCreative } from "../creatives/creatives.ts";
import type { CampaignFault } from "./campaign-settings.ts";
import { campaignWarnings, readWarningFacts } from "./campaign-warnings.ts";
import { findCampaign, unknownCampaign } from "./campaigns.ts";
import {
  type AddCampaignOutcome,
  type CampaignDraft,
  MAX_DRAFTS,
  MAX_DRAFTS_A_DAY,
  type UpdateCampaignOutcome,
} from "./change-campaign.ts";
import { isOfDraft } from "./repeated-campaign.ts";

const approveIt = "an operator approves it with: campaigns approve";

export function changedCampaign(outcome: UpdateCampaignOutcome, campaignId: string): Campaign {
  switch (outcome.outcome) {
    case "updated":
      return outcome.campaign;
    case "unknown-campaign":
      throw unknownCampaign(campaignId);
    case "archived":
      throw conflict("CAMPAIGN_ARCHIVED", `campaign ${campaignId} is archived, which cannot be undone`);
    case "changed-since":
      throw conflict("CAMPAIGN_CHANGED", `campaign ${campaignId} was changed since it was read: read it again`);
    case "paused-by-operator":
      throw conflict(
        "PAUSED_BY_OPERATOR",
        `campaign ${campaignId} was paused by the operator, who alone can resume it`,
      );
    case "not-approved":
      throw conflict("CAMPAIGN_NOT_APPROVED", `campaign ${campaignId} was not approved: ${approveIt}`);
    case "of-operator":
      throw conflict("CAMPAIGN_OF_OPERATOR", `campaign ${campaignId} is the operator's own, and has no review`);
    case "draft":
      throw conflict("CAMPAIGN_IS_DRAFT", `campaign ${campaignId} is a draft that its advertiser has not submitted`);
    case "approved-already":
      throw conflict("CAMPAIGN_APPROVED", `campaign ${campaignId} is approved already`);
    case "invalid":
      throw faultyCampaign(outcome.fault);
    default:
      throw outcome satisfies never;
  }
}

export function faultyCampaign({ field, message, fault }: CampaignFault): HttpError {
  return invalidField(field, message, fault);
}

export function addedCampaign(added: AddCampaignOutcome, draft: CampaignDraft): Campaign {
  if (added.outcome === "invalid") throw faultyCampaign(added.fault);
  if (added.outcome === "unknown-creative") throw unknownCreative(added.creativeId);
  if (added.outcome === "too-many-drafts") {
    const message = `an advertiser has at most ${MAX_DRAFTS} campaigns that were not approved: submit or archive one`;
    throw conflict("TOO_MANY_DRAFTS", message, { max: String(MAX_DRAFTS) });
  }
  if (added.outcome === "too-many-drafts-today") {
    const message = `an advertiser drafts at most ${MAX_DRAFTS_A_DAY} campaigns a day: revise one, or draft it tomorrow`;
    throw conflict("TOO_MANY_DRAFTS_TODAY", message, { max: String(MAX_DRAFTS_A_DAY) });
  }
  return added.outcome === "added" ? added.campaign : addedBefore(added.campaign, draft);
}

/** The campaign of a repeated request; throws a conflict if the settings differ. */
export function addedBefore(campaign: Campaign, draft: CampaignDraft): Campaign {
  if (isOfDraft(campaign, draft)) return campaign;
  const message = `the request with this idempotency key has added ${campaign.campaignId}, which has other settings: see campaigns show`;
  throw conflict("IDEMPOTENCY_KEY_REUSED", message);
}

/** Effects of a change that are usually unintended, and need a confirmation. */
export async function warningsOf(
  { database, now }: { database: Database; now: () => Date },
  campaignId: string,
  changes: Partial<CampaignSettings>,
) {
  const before = await findCampaign(database, campaignId);
  if (!before) throw unknownCampaign(campaignId);
  const facts = await readWarningFacts(database, { campaignId, now: now() });
  return campaignWarnings({ ...facts, before, changes, now: now() });
}

const noCountries =
  "cannot be used, since no source of countries is configured: set COUNTRY_DATABASE (a file in MaxMind's format) or COUNTRY_HEADER " +
  "(a header of the trusted proxy), start the ad service again, then repeat this";

export function requireCountries(targeting: Targeting | undefined, hasCountries: boolean): void {
  if (targeting?.countries === undefined || hasCountries) return;
  throw invalidField("targeting.countries", noCountries, fieldFault("COUNTRIES_UNKNOWN"));
}

/** A mistyped id would show the campaign to no user, or to all users. */
export function botsOf(target: Targeting | undefined): string[] {
  return [...(target?.bots ?? []), ...(target?.excludedBots ?? [])];
}

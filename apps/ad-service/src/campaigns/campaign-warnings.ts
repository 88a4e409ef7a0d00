import { amountOf } from "@intermission/operator-api/amounts";
import type { Campaign, CampaignSettings } from "@intermission/operator-api/campaigns";
import { fieldFault } from "@intermission/operator-api/field-forms";
import { landingMacros, unknownMacros } from "@intermission/operator-api/landing-macros";
import { type Database, statement } from "@intermission/postgres/open-database";
import type { ConfirmableEffect } from "@intermission/server/refuse";
import { advertiserNames, similarAdvertiser } from "../advertisers/similar-advertiser.ts";
import type { Delivered } from "./campaigns.ts";

/** An effect of a campaign's settings that is rarely meant. `message` is a sentence about `field` that says what will happen. */
interface CampaignWarning extends ConfirmableEffect {
  field: keyof CampaignSettings;
}

interface WarningFacts {
  /** The stored campaign; undefined for a new one. */
  before: Campaign | undefined;
  /** The settings that are added or changed. */
  changes: Partial<CampaignSettings>;
  /** What the campaign has delivered: `today` is the current UTC day. */
  delivered: { total: Delivered; today: Delivered };
  /** The names of all advertisers. */
  advertisers: readonly string[];
  now: Date;
}

/** The effects of changed settings that are rarely meant. Settings that stay the same cause no warning. */
export function campaignWarnings(facts: WarningFacts): CampaignWarning[] {
  const { before, changes, advertisers } = facts;
  const warnings: CampaignWarning[] = [];
  const { landingUrl, advertiser } = changes;
  if (landingUrl && landingUrl !== before?.landingUrl) warnings.push(...macroWarnings(landingUrl));
  if (advertiser !== undefined && advertiser !== before?.advertiser) {
    const similar = similarAdvertiser(advertiser, advertisers);
    if (similar !== undefined) {
      const message = `makes a new advertiser with reports and a postback key of its own; there is already "${similar}"`;
      const effect = fieldFault("ADVERTISER_NEW", { similar });
      warnings.push({ field: "advertiser", message, effect });
    }
  }
  if (before && before.status !== "active") return warnings;
  return [...warnings, ...endWarnings(facts), ...limitWarnings(facts)];
}

function endWarnings({ before, changes: { endsAt }, now }: WarningFacts): CampaignWarning[] {
  if (!endsAt || endsAt > now || endsAt.getTime() === before?.endsAt?.getTime()) return [];
  const at = endsAt.toISOString();
  const message = `${at} is in the past, so the campaign ${before ? "ends now" : "never runs"}`;
  return before
    ? [{ field: "endsAt", message, effect: fieldFault("ENDS_NOW", { at }) }]
    : [{ field: "endsAt", message, effect: fieldFault("NEVER_RUNS", { at }) }];
}

const limits = [
  { field: "totalBudgetMicros", span: "total", measure: "spentMicros" },
  { field: "dailyBudgetMicros", span: "today", measure: "spentMicros" },
  { field: "totalViewCap", span: "total", measure: "views" },
  { field: "dailyViewCap", span: "today", measure: "views" },
  { field: "totalClickCap", span: "total", measure: "clicks" },
  { field: "dailyClickCap", span: "today", measure: "clicks" },
] as const satisfies readonly { field: keyof CampaignSettings; span: "total" | "today"; measure: keyof Delivered }[];

const words = {
  spentMicros: { noun: "spent", text: amountOf },
  views: { noun: "delivered", text: String },
  clicks: { noun: "delivered", text: String },
} satisfies Record<keyof Delivered, { noun: string; text: (value: number) => string }>;

function limitWarnings({ before, changes, delivered }: WarningFacts): CampaignWarning[] {
  return limits.flatMap(({ field, span, measure }): CampaignWarning[] => {
    const limit = changes[field];
    const used = delivered[span][measure];
    if (limit === undefined || limit === null || limit === before?.[field] || limit > used || used === 0) return [];
    const { noun, text } = words[measure];
    const since = span === "today" ? "today" : "so far";
    const until = span === "today" ? "until midnight UTC" : "for good";
    const message = `${text(limit)} is not above the ${text(used)} ${noun} ${since}, so the campaign stops ${until}`;
    const code = span === "today" ? "LIMIT_REACHED_TODAY" : "LIMIT_REACHED";
    const effect = fieldFault(code, { limit: text(limit), used: text(used) });
    return [{ field, message, effect }];
  });
}

function macroWarnings(landingUrl: string): CampaignWarning[] {
  const macros = landingMacros.map((name) => `{${name}}`).join(", ");
  return unknownMacros(landingUrl).map((whole) => {
    const message = `${whole} is no macro and is sent as it stands; the macros are ${macros}`;
    const effect = fieldFault("MACRO_UNKNOWN", { macro: whole, macros });
    return { field: "landingUrl", message, effect };
  });
}

const readDelivered = statement<Delivered & { today: Delivered }>(
  "campaigns.read-delivered",
  `select coalesce(sum(views), 0)::float8 as views, coalesce(sum(clicks), 0)::float8 as clicks,
     coalesce(sum(spent_micros), 0)::float8 as "spentMicros",
     jsonb_build_object(
       'views', coalesce(sum(views) filter (where day = $2), 0), 'clicks', coalesce(sum(clicks) filter (where day = $2), 0),
       'spentMicros', coalesce(sum(spent_micros) filter (where day = $2), 0)
     ) as today
   from campaign_days where campaign_id = $1`,
);

/** The facts for `campaignWarnings`, as they are stored now. */
export async function readWarningFacts(
  database: Database,
  { campaignId, now }: { campaignId: string | undefined; now: Date },
): Promise<Pick<WarningFacts, "delivered" | "advertisers">> {
  const [row] = await database.run(readDelivered, [campaignId ?? "", now.toISOString().slice(0, 10)]);
  if (!row) throw new Error("an aggregate returned no row");
  const { today, ...total } = row;
  return { delivered: { total, today }, advertisers: await advertiserNames(database) };
}

import { advertiserSettings, campaignReviewRoutes } from "@intermission/operator-api/campaign-reviews";
import { campaignFormats, viewFormats } from "@intermission/operator-api/campaign-words";
import {
  type Campaign,
  campaignRoutes,
  campaignSettings,
  defaultSettings,
  settingsOfFormat,
} from "@intermission/operator-api/campaigns";
import { usualTerms } from "@intermission/operator-api/terms";
import type { z } from "zod";
import {
  defineForm,
  type FormDefinition,
  type NameOf,
  otherFields,
  type TitleOf,
  type TypedValues,
  typedValuesOf,
} from "../forms/form-definition.ts";
import { type FieldName, fieldsOf } from "../forms/form-fields.ts";

/** What a request adds, with each setting as a change of it has it. */
const schema = campaignRoutes.addCampaign.body.extend(campaignSettings.shape);

/** What most campaigns leave as it is stands in sections that are shut. */
const sections = [
  {
    fields: [
      "name",
      "advertiser",
      "newAdvertiser/billing",
      "newAdvertiser/creditLimitMicros",
      "formats",
      "creativeIds",
      "landingUrl",
      "callToAction",
      "viewPriceMicros",
      "clickPriceMicros",
      "skipAfterSeconds",
      "chargedAfterSeconds",
      "taskChatId",
      "taskStartBot",
      "taskPriceMicros",
      "taskPaidAt",
      "taskHoldDays",
      "dailyBudgetMicros",
      "totalBudgetMicros",
      "startsAt",
      "endsAt",
    ],
  },
  {
    title: "users",
    isFolded: true,
    fields: ["targeting/languages", "targeting/countries", "targeting/platforms", "targeting/premium"],
  },
  { title: "times", isFolded: true, fields: ["targeting/weekdays", "targeting/hours"] },
  {
    title: "bots",
    isFolded: true,
    fields: [
      "targeting/bots",
      "targeting/excludedBots",
      "targeting/botCategories",
      "targeting/excludedBotCategories",
      "category",
    ],
  },
  {
    title: "limits",
    isFolded: true,
    fields: ["userCap", "userCapSeconds", "dailyViewCap", "totalViewCap", "dailyClickCap", "totalClickCap"],
  },
] as const;
type Placed = (typeof sections)[number]["fields"][number];
const placed = sections.flatMap<Placed>(({ fields }) => [...fields]);

/** The settings of a campaign. Those without a place of their own stand at the end. */
export const campaignForm = defineForm(schema, {
  sections: [
    ...sections,
    { title: "order", isFolded: true, fields: otherFields(schema, [...placed, "idempotencyKey"]) },
  ],
  elsewhere: { idempotencyKey: "the screen makes one for each campaign" },
  faultsAt: { targeting: "targeting/bots", newAdvertiser: "newAdvertiser/billing" },
});

const draftSchema = campaignReviewRoutes.draftCampaign.body.extend(advertiserSettings.shape);
type DraftField = Extract<Placed, FieldName<z.input<typeof draftSchema>>>;
const draftFields: ReadonlySet<string> = new Set(fieldsOf(draftSchema).map(({ name }) => name));
const isOfDraft = (name: Placed): name is DraftField => draftFields.has(name);

export type CampaignField = NameOf<typeof campaignForm>;
export type CampaignSection = TitleOf<typeof campaignForm>;

/** The form of an advertiser's own campaign. */
export const draftForm: FormDefinition<CampaignField, CampaignSection> = defineForm(draftSchema, {
  sections: [
    ...sections.map(({ fields, ...section }) => ({ ...section, fields: fields.filter(isOfDraft) })),
    { title: "order", isFolded: true, fields: ["pacing"] },
  ],
  elsewhere: { idempotencyKey: "the screen makes one for each campaign" },
  faultsAt: { targeting: "targeting/botCategories" },
});

/** The form with which an operator approves a campaign. */
export const approvalForm = defineForm(
  campaignReviewRoutes.approveCampaign.body.extend(
    campaignSettings.pick({ viewPriceMicros: true, clickPriceMicros: true, priority: true, category: true }).shape,
  ),
  {
    sections: [{ fields: ["viewPriceMicros", "clickPriceMicros", "priority", "category"] }],
    elsewhere: { expectedUpdatedAt: "of the campaign that the reader sees" },
  },
);

export const campaignRefusalForm = defineForm(campaignReviewRoutes.refuseCampaign.body, {
  sections: [{ fields: ["reason"] }],
  elsewhere: { expectedUpdatedAt: "of the campaign that the reader sees" },
});

/** What the fields hold where nothing is set. */
export const newCampaignValues: TypedValues = typedValuesOf(campaignForm, {
  ...defaultSettings,
  formats: ["rewarded"],
  newAdvertiser: usualTerms,
});

/** Which fields a campaign has: by its formats, and whether it, and its advertiser, are new. */
export function isCampaignField(
  name: string,
  values: TypedValues,
  { isNew, isNewAdvertiser }: { isNew: boolean; isNewAdvertiser: boolean },
): boolean {
  const has = (format: (typeof campaignFormats)[number]) =>
    Array.isArray(values.formats) && values.formats.includes(format);
  const having = campaignFormats.filter((one) => settingsOfFormat[one].some((setting) => setting === name));
  if (having.length > 0) return having.some(has);
  switch (name) {
    case "formats":
      return isNew;
    case "creativeIds":
      return isNew && viewFormats.some(has);
    case "callToAction":
      return viewFormats.some(has);
    case "newAdvertiser/billing":
      return isNewAdvertiser;
    case "newAdvertiser/creditLimitMicros":
      return isNewAdvertiser && values["newAdvertiser/billing"] === "credit";
    default:
      return true;
  }
}

/** A campaign's settings, as a request for another one takes them. */
export function settingsOf(campaign: Campaign): z.input<typeof campaignSettings> {
  const names = Object.keys(campaignSettings.shape);
  // Entries lose the names of their types.
  const settings = Object.fromEntries(Object.entries(campaign).filter(([name]) => names.includes(name))) as z.output<
    typeof campaignSettings
  >;
  const { startsAt, endsAt } = campaign;
  return { ...settings, startsAt: startsAt?.toISOString() ?? null, endsAt: endsAt?.toISOString() ?? null };
}

import { amountOf, readAmount } from "@intermission/operator-api/amounts";
import {
  type Campaign,
  type CampaignSettings,
  campaignRoutes,
  campaignSettings,
  type Targeting,
} from "@intermission/operator-api/campaigns";
import type { z } from "zod";
import type { LocalText } from "../operator/local-text.ts";
import { readLocalTime, toLocalInput } from "../ui/local-time.ts";
import { faultOfAmount, faultsOf } from "../ui/typed-faults.ts";
import { uiWords } from "../ui/words.ts";

type SettingsInput = z.input<typeof campaignSettings>;

/** A campaign's settings, as a request for another one takes them. */
export function settingsOf(campaign: Campaign): SettingsInput {
  const names = Object.keys(campaignSettings.shape) as (keyof CampaignSettings)[];
  // Entries lose the names of their types.
  const settings = Object.fromEntries(names.map((name) => [name, campaign[name]])) as CampaignSettings;
  const { startsAt, endsAt } = campaign;
  return { ...settings, startsAt: startsAt?.toISOString() ?? null, endsAt: endsAt?.toISOString() ?? null };
}

/** What the editor's fields hold: text, as it is typed. */
export interface CampaignFormValues {
  name: string;
  advertiser: string;
  formats: string[];
  creativeIds: string[];
  landingUrl: string;
  viewPrice: string;
  clickPrice: string;
  dailyBudget: string;
  totalBudget: string;
  startsAt: string;
  endsAt: string;
  languages: string;
  bots: string;
  priority: string;
}

export const newCampaignValues: CampaignFormValues = {
  name: "",
  advertiser: "",
  formats: ["rewarded"],
  creativeIds: [],
  landingUrl: "",
  viewPrice: "",
  clickPrice: "",
  dailyBudget: "",
  totalBudget: "",
  startsAt: "",
  endsAt: "",
  languages: "",
  bots: "",
  priority: "standard",
};

export function valuesOf(campaign: Campaign): CampaignFormValues {
  const amount = (micros: number | null) => (micros === null || micros === 0 ? "" : amountOf(micros));
  return {
    name: campaign.name,
    advertiser: campaign.advertiser,
    formats: campaign.formats,
    creativeIds: campaign.creatives.filter(({ isActive }) => isActive).map(({ creativeId }) => creativeId),
    landingUrl: campaign.landingUrl ?? "",
    viewPrice: amount(campaign.viewPriceMicros),
    clickPrice: amount(campaign.clickPriceMicros),
    dailyBudget: amount(campaign.dailyBudgetMicros),
    totalBudget: amount(campaign.totalBudgetMicros),
    startsAt: toLocalInput(campaign.startsAt),
    endsAt: toLocalInput(campaign.endsAt),
    languages: (campaign.targeting.languages ?? []).join(", "),
    bots: (campaign.targeting.bots ?? []).join(", "),
    priority: campaign.priority,
  };
}

type Field = keyof CampaignFormValues;

/** Of a request, what comes from some fields of the editor: a change says nothing about the others. */
export function requestOf<Body extends object>(fields: readonly Field[], body: Body): Partial<Body> {
  const hasTargeting = fields.includes("languages") || fields.includes("bots");
  const isTyped = (name: string) => (name === "targeting" ? hasTargeting : fields.includes(formField(name)));
  // Entries lose the names of their types.
  return Object.fromEntries(Object.entries(body).filter(([name]) => isTyped(name))) as Partial<Body>;
}

/** The field of the editor that a field of a request comes from. */
const fieldOf: Readonly<Record<string, keyof CampaignFormValues>> = {
  viewPriceMicros: "viewPrice",
  clickPriceMicros: "clickPrice",
  dailyBudgetMicros: "dailyBudget",
  totalBudgetMicros: "totalBudget",
  "targeting.languages": "languages",
  "targeting.bots": "bots",
};

export function formField(field: string): keyof CampaignFormValues {
  return fieldOf[field] ?? (field in newCampaignValues ? (field as keyof CampaignFormValues) : "name");
}

export type FormReading =
  | { outcome: "request"; body: z.input<typeof campaignRoutes.addCampaign.body> }
  | { outcome: "refused"; faults: FormFaults };
type FormFaults = Partial<Record<keyof CampaignFormValues, LocalText>>;

/** Reads the fields as a request; amounts as people write them. `kept`: the targeting that the editor does not show. */
export async function readCampaignForm(values: CampaignFormValues, kept: Targeting = {}): Promise<FormReading> {
  const faults: FormFaults = {};
  const amount = async (field: "viewPrice" | "clickPrice" | "dailyBudget" | "totalBudget"): Promise<number | null> => {
    const text = values[field].trim();
    if (text === "") return null;
    const read = readAmount(text, field.endsWith("Price") ? "price" : "budget");
    if (read.outcome === "amount") return read.micros;
    faults[field] = await faultOfAmount(read);
    return null;
  };
  const moment = (field: "startsAt" | "endsAt"): string | null => {
    const read = readLocalTime(values[field]);
    if (read === undefined) faults[field] = { en: uiWords.en.noSuchTime, ru: uiWords.ru.noSuchTime };
    return read?.at?.toISOString() ?? null;
  };
  const { languages: _, bots: __, ...otherTargeting } = kept;
  const body = {
    name: values.name,
    advertiser: values.advertiser,
    formats: formats.filter((format) => values.formats.includes(format)),
    creativeIds: values.formats.includes("rewarded") ? values.creativeIds : [],
    landingUrl: values.landingUrl.trim() || null,
    viewPriceMicros: (await amount("viewPrice")) ?? 0,
    clickPriceMicros: (await amount("clickPrice")) ?? 0,
    dailyBudgetMicros: await amount("dailyBudget"),
    totalBudgetMicros: await amount("totalBudget"),
    startsAt: moment("startsAt"),
    endsAt: moment("endsAt"),
    priority: priorities.find((priority) => priority === values.priority) ?? "standard",
    targeting: { ...otherTargeting, ...listed("languages", values.languages), ...listed("bots", values.bots) },
  };
  const ofBody = (await faultsOf(campaignRoutes.addCampaign.body, body)) ?? {};
  for (const [field, text] of Object.entries(ofBody)) faults[formField(field)] ??= text;
  return Object.keys(faults).length > 0 ? { outcome: "refused", faults } : { outcome: "request", body };
}

export const formats = ["rewarded", "direct_link"] as const;
export const priorities = ["sponsorship", "standard", "house"] as const;

function listed(name: "languages" | "bots", text: string) {
  const words = text.split(/[\s,]+/).filter((word) => word !== "");
  return words.length === 0 ? {} : { [name]: words };
}

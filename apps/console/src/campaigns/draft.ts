import { z } from "zod";
import { jsonIn } from "../operator/call-operator.ts";
import { type CampaignFormValues, newCampaignValues } from "./campaign-form-values.ts";

export interface CampaignDraft {
  /** Of the request that adds it: sent again after a lost answer, also of a page before, it adds one campaign. */
  idempotencyKey: string;
  values: CampaignFormValues;
}

const KEY = "campaign-draft";
const kept = z.object({ personId: z.string(), idempotencyKey: z.string(), values: z.unknown() });

/** Kept in this tab until the campaign is added, the draft is discarded, or the person signs out. */
export function keepDraft(personId: string, draft: CampaignDraft): void {
  if (JSON.stringify(draft.values) === JSON.stringify(newCampaignValues)) discardDraft();
  else sessionStorage.setItem(KEY, JSON.stringify({ personId, ...draft }));
}

export function discardDraft(): void {
  sessionStorage.removeItem(KEY);
}

/** What the person typed and did not save; undefined: nothing, or a draft of another version of this form. */
export function readDraft(personId: string): CampaignDraft | undefined {
  const draft = kept.safeParse(jsonIn(sessionStorage.getItem(KEY) ?? "")).data;
  if (draft?.personId !== personId || !areValues(draft.values)) return undefined;
  return { idempotencyKey: draft.idempotencyKey, values: draft.values };
}

function areValues(values: unknown): values is CampaignFormValues {
  if (typeof values !== "object" || values === null) return false;
  const fields: Record<string, unknown> = { ...values };
  return Object.entries(newCampaignValues).every(([name, value]) =>
    Array.isArray(value)
      ? Array.isArray(fields[name]) && fields[name].every((one) => typeof one === "string")
      : typeof fields[name] === "string",
  );
}

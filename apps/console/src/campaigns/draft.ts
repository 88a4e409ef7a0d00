import { type CampaignFormValues, newCampaignValues } from "./campaign-form-values.ts";

export interface CampaignDraft {
  /** Of the request that adds it: sent again after a lost answer, also of a page before, it adds one campaign. */
  idempotencyKey: string;
  values: CampaignFormValues;
}

const KEY = "campaign-draft";

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
  const { personId: keptFor, idempotencyKey, values } = parsed(sessionStorage.getItem(KEY));
  return keptFor === personId && typeof idempotencyKey === "string" && areValues(values)
    ? { idempotencyKey, values }
    : undefined;
}

function parsed(text: string | null): { personId?: unknown; idempotencyKey?: unknown; values?: unknown } {
  try {
    const kept: unknown = text === null ? undefined : JSON.parse(text);
    return typeof kept === "object" && kept !== null ? kept : {};
  } catch {
    return {};
  }
}

function areValues(kept: unknown): kept is CampaignFormValues {
  if (typeof kept !== "object" || kept === null) return false;
  const fields: Record<string, unknown> = { ...kept };
  return Object.entries(newCampaignValues).every(([name, value]) =>
    Array.isArray(value)
      ? Array.isArray(fields[name]) && fields[name].every((one) => typeof one === "string")
      : typeof fields[name] === "string",
  );
}

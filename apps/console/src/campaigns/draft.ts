import { type CampaignFormValues, newCampaignValues } from "./campaign-form-values.ts";

const KEY = "campaign-draft";

/** Kept in this tab until the campaign is added, the draft is discarded, or the person signs out. */
export function keepDraft(personId: string, values: CampaignFormValues): void {
  if (JSON.stringify(values) === JSON.stringify(newCampaignValues)) discardDraft();
  else sessionStorage.setItem(KEY, JSON.stringify({ personId, values }));
}

export function discardDraft(): void {
  sessionStorage.removeItem(KEY);
}

/** What the person typed and did not save; undefined: nothing, or a draft of another version of this form. */
export function readDraft(personId: string): CampaignFormValues | undefined {
  const kept = parsed(sessionStorage.getItem(KEY));
  return kept.personId === personId && isDraft(kept.values) ? kept.values : undefined;
}

function parsed(text: string | null): { personId?: unknown; values?: unknown } {
  try {
    const kept: unknown = text === null ? undefined : JSON.parse(text);
    return typeof kept === "object" && kept !== null ? kept : {};
  } catch {
    return {};
  }
}

function isDraft(kept: unknown): kept is CampaignFormValues {
  if (typeof kept !== "object" || kept === null) return false;
  const fields: Record<string, unknown> = { ...kept };
  return Object.entries(newCampaignValues).every(([name, value]) =>
    Array.isArray(value)
      ? Array.isArray(fields[name]) && fields[name].every((one) => typeof one === "string")
      : typeof fields[name] === "string",
  );
}

import { type CampaignFormValues, newCampaignValues } from "./campaign-form-values.ts";

const KEY = "campaign-draft";

/** Kept in this tab until the campaign is added, the draft is discarded, or the session ends. */
export function keepDraft(values: CampaignFormValues): void {
  if (JSON.stringify(values) === JSON.stringify(newCampaignValues)) discardDraft();
  else sessionStorage.setItem(KEY, JSON.stringify(values));
}

export function discardDraft(): void {
  sessionStorage.removeItem(KEY);
}

/** What was typed and not saved; undefined: nothing, or a draft of another version of this form. */
export function readDraft(): CampaignFormValues | undefined {
  const kept: unknown = parsed(sessionStorage.getItem(KEY));
  return isDraft(kept) ? kept : undefined;
}

function parsed(text: string | null): unknown {
  try {
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
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

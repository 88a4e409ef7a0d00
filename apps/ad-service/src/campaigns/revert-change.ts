import type { AuditEntry } from "@intermission/operator-api/audit";
import type { CampaignStatus } from "@intermission/operator-api/campaign-words";
import { type CampaignSettings, campaignSettings } from "@intermission/operator-api/campaigns";
import { definedFields } from "@intermission/server/parse-request";
import { settingColumns } from "./campaign-settings.ts";

/** A campaign as the audit trail records it: settings by column, with `status` and `advertiser_id`. */
type RecordedCampaign = Readonly<Record<string, unknown>>;

type RevertPlan =
  | {
      outcome: "plan";
      settings: Partial<CampaignSettings>;
      status: CampaignStatus | undefined;
      /** Undefined: it stays. */
      advertiserId: string | undefined;
      /** What the change has set, and a later one has set again. */
      changedSince: string[];
    }
  /** The change made the campaign, or attached or detached a video. */
  | { outcome: "nothing-to-revert" }
  /** A value from before would be refused today. */
  | { outcome: "refused"; field: string; message: string };

const settings = campaignSettings.omit({ advertiser: true }).partial();
const reverted = { ...settingColumns, status: "status", advertiser: "advertiser_id" } as const;

/** The settings that undo one change of a campaign. Settings that only later changes have set stay. */
export function planRevert(entry: Pick<AuditEntry, "before" | "after">, current: RecordedCampaign): RevertPlan {
  const { before, after } = entry;
  if (before === null || after === null) return { outcome: "nothing-to-revert" };
  const set = Object.entries(reverted).filter(([, column]) => !isSame(before[column], after[column]));
  if (set.length === 0) return { outcome: "nothing-to-revert" };
  const values = set
    .filter(([field]) => Object.hasOwn(settingColumns, field))
    .map(([field, column]) => [field, before[column]]);
  const read = settings.safeParse(Object.fromEntries(values));
  if (!read.success) {
    const [issue] = read.error.issues;
    return { outcome: "refused", field: issue?.path.join(".") ?? "", message: issue?.message ?? "" };
  }
  const isSet = (field: keyof typeof reverted) => set.some(([one]) => one === field);
  return {
    outcome: "plan",
    settings: definedFields(read.data),
    status: isSet("status") ? (String(before.status) as CampaignStatus) : undefined,
    advertiserId: isSet("advertiser") ? String(before.advertiser_id) : undefined,
    changedSince: set.filter(([, column]) => !isSame(after[column], current[column])).map(([field]) => field),
  };
}

/** Both are JSON of the database, whose keys have one order. */
function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

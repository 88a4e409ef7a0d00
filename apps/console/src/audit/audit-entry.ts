import type { AuditEntry } from "@intermission/operator-api/audit";

interface ChangedField {
  field: string;
  /** As text; empty: it had no value. */
  before: string;
  after: string;
}

/** The fields that a change has set, by name. */
export function changedFields({ before, after }: Pick<AuditEntry, "before" | "after">): ChangedField[] {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  return [...names]
    .sort()
    .map((field) => ({ field, before: textOf(before?.[field]), after: textOf(after?.[field]) }))
    .filter((field) => field.before !== field.after);
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Who made a change, in words. */
export function actorOf({ actor, actorName }: AuditEntry, commandLine: string): string {
  return actor === "command-line" ? commandLine : (actorName ?? actor);
}

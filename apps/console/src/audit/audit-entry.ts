import type { AuditEntry } from "@intermission/operator-api/audit";

export interface ChangedField {
  field: string;
  before: unknown;
  after: unknown;
}

/** The fields that a change has set, by name. */
export function changedFields({ before, after }: Pick<AuditEntry, "before" | "after">): ChangedField[] {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  return [...names]
    .sort()
    .map((field) => ({ field, before: before?.[field], after: after?.[field] }))
    .filter((field) => JSON.stringify(field.before ?? null) !== JSON.stringify(field.after ?? null));
}

/** Who made a change, in words. */
export function actorOf({ actor, actorName }: AuditEntry, commandLine: string): string {
  return actor === "command-line" ? commandLine : (actorName ?? actor);
}

import type { Random } from "./seeded-random.ts";

export type Role = "ad-service" | "api";

/**
 * Where servers die: before, during or after a prepared statement (or a plain `commit`), or when a webhook has got so far.
 * "During" is after its bytes left and before its answer came; "after" counts only statements that moved a row.
 */
export const deathSteps: Readonly<Record<Role, readonly string[]>> = {
  "ad-service": [
    ...around("direct-links.follow"),
    ...around("ad-sessions.begin"),
    ...around("ad-sessions.record-progress"),
    ...around("ad-sessions.record"),
    ...around("deliveries.claim"),
    "at:webhook-sent",
    "at:webhook-answered",
    ...around("deliveries.finish"),
    "after:deliveries.reap",
    ...around("statistics.add-events"),
    "before:commit",
    "during:commit",
    "after:commit",
  ],
  api: [
    "at:webhook-arrived",
    ...around("record-events"),
    "at:webhook-replied",
    ...around("take-units"),
    "during:commit",
    "after:commit",
  ],
};

function around(statement: string): string[] {
  return [`before:${statement}`, `during:${statement}`, `after:${statement}`];
}

/** Deals a role's steps like cards, so that each is used as often as the others. */
export function dealSteps(role: Role, random: Random): () => string {
  let deck: string[] = [];
  return () => {
    if (deck.length === 0) deck = random.shuffled(deathSteps[role]);
    const step = deck.pop();
    if (step === undefined) throw new Error(`${role} has no steps`);
    return step;
  };
}

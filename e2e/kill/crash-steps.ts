import type { Random } from "@intermission/testing/seeded-random";

export type Role = "ad-service" | "api";

/**
 * Steps at which servers are killed: before, during or after a prepared statement (or a plain `commit`), or at a step of a
 * webhook. "During" means sent but not answered; "after" counts only statements that changed a row.
 */
const deathSteps: Readonly<Record<Role, readonly string[]>> = {
  "ad-service": [
    ...around("clicks.record"),
    ...around("views.begin"),
    ...around("views.record-progress"),
    ...around("views.record"),
    ...around("deliveries.claim"),
    "at:webhook-sent",
    "at:webhook-answered",
    ...around("deliveries.finish"),
    "after:deliveries.reap",
    ...around("statistics.add-to-stats_sums"),
    "before:commit",
    "during:commit",
    "after:commit",
  ],
  api: [
    "at:webhook-arrived",
    ...around("ledger.record"),
    "at:webhook-replied",
    ...around("spend.take"),
    "during:commit",
    "after:commit",
  ],
};

/** The prepared statements among a role's steps. */
export function crashStatements(role: Role): string[] {
  const named = deathSteps[role].map((step) => step.split(":")).filter(([when]) => when !== "at");
  return [...new Set(named.map(([, statement = ""]) => statement))].filter((statement) => statement !== "commit");
}

function around(statement: string): string[] {
  return [`before:${statement}`, `during:${statement}`, `after:${statement}`];
}

/** Returns a role's steps from a reshuffled deck, so that all are used equally often. */
export function dealSteps(role: Role, random: Random): () => string {
  let deck: string[] = [];
  return () => {
    if (deck.length === 0) deck = random.shuffled(deathSteps[role]);
    const step = deck.pop();
    if (step === undefined) throw new Error(`${role} has no steps`);
    return step;
  };
}

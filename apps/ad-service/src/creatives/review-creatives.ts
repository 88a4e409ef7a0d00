import type { Creative } from "@intermission/operator-api/creatives";
import { audit, openChange } from "@intermission/postgres/audit";
import { type Database, statement } from "@intermission/postgres/open-database";
import { type CreativeChange, type CreativeRow, creativeOf, findCreative, selectCreatives } from "./creatives.ts";

export type ReviewDecision =
  | { review: "approved" }
  | { review: "refused"; reason: string }
  /** An earlier decision is taken back. */
  | { review: "waiting" };

type ReviewOutcome =
  | { outcome: "reviewed"; creative: Creative }
  | { outcome: "unknown-creative" }
  /** It has changed since the reviewer saw it. */
  | { outcome: "changed"; revision: number }
  /** Its advertiser has not submitted it. */
  | { outcome: "draft" };

const decide = statement<{ creativeId: string }>(
  "creatives.review",
  `update creatives set review = $3, review_reason = $4, reviewed_at = $5
   where creative_id = $1 and revision = $2 and review <> 'draft' returning creative_id as "creativeId"`,
);

/** What the advertiser is shown. */
function reasonOf(decision: ReviewDecision): string | null {
  switch (decision.review) {
    case "approved":
    case "waiting":
      return null;
    case "refused":
      return decision.reason;
    default:
      return decision satisfies never;
  }
}

/** Decides about what the reviewer saw, which the revision names. A decision may be changed later. */
export async function reviewCreative(
  database: Database,
  { creativeId, revision, author, now, ...decision }: ReviewDecision & CreativeChange & { revision: number; now: Date },
): Promise<ReviewOutcome> {
  const reason = reasonOf(decision);
  return database.transaction<ReviewOutcome>(async (tx) => {
    const change = await openChange(tx, author, creativeId);
    const decidedAt = decision.review === "waiting" ? null : now;
    const [reviewed] = await tx.run(decide, [creativeId, revision, decision.review, reason, decidedAt]);
    const creative = await findCreative(tx, creativeId);
    if (creative === undefined) return { outcome: "unknown-creative" };
    if (creative.review === "draft") return { outcome: "draft" };
    if (reviewed === undefined) return { outcome: "changed", revision: creative.revision };
    await audit(tx, change);
    return { outcome: "reviewed", creative };
  });
}

const listQueue = statement<CreativeRow>(
  "creatives.review-queue",
  `${selectCreatives} where review = 'waiting' order by submitted_at, creative_id limit $1`,
);
const countQueue = statement<{ waiting: number }>(
  "creatives.count-review-queue",
  "select count(*)::integer as waiting from creatives where review = 'waiting'",
);

/** What waits for approval, the longest waiting first. */
export async function readReviewQueue(
  database: Pick<Database, "run">,
  { limit }: { limit: number },
): Promise<{ waiting: number; creatives: Creative[] }> {
  const [counted] = await database.run(countQueue, []);
  return { waiting: counted?.waiting ?? 0, creatives: (await database.run(listQueue, [limit])).map(creativeOf) };
}

type SubmitOutcome =
  | { outcome: "submitted"; creative: Creative }
  | { outcome: "unknown-creative" }
  | { outcome: "approved-already" };

const submit = statement<{ id: string }>(
  "creatives.submit",
  `update creatives set review = 'waiting', review_reason = null, submitted_at = $2
   where creative_id = $1 and review in ('draft', 'refused') returning creative_id as id`,
);

/** Puts a draft, or a refused creative again, at the end of the queue. Submitting what waits changes nothing. */
export async function submitCreative(
  database: Database,
  { creativeId, author, now }: CreativeChange & { now: Date },
): Promise<SubmitOutcome> {
  return database.transaction<SubmitOutcome>(async (tx) => {
    const change = await openChange(tx, author, creativeId);
    if ((await tx.run(submit, [creativeId, now])).length > 0) await audit(tx, change);
    const creative = await findCreative(tx, creativeId);
    if (creative === undefined) return { outcome: "unknown-creative" };
    return creative.review === "approved" ? { outcome: "approved-already" } : { outcome: "submitted", creative };
  });
}

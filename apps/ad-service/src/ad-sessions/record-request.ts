import { type CommitGroup, groupCommits } from "@intermission/postgres/group-commits";
import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase, AdTransaction } from "../ad-database.ts";

/** A wish to watch an ad that was not granted. Only of users that Telegram vouched for: nobody else leaves rows. */
export interface UnfilledRequest {
  botId: string;
  userId: string;
  code: string | undefined;
  /** `limited` by the publisher's cooldown or cap, and `refused` for the code's sake, ask for no ad. */
  outcome: "no-ad" | "limited" | "refused";
  reason: string;
  now: Date;
}

const insertUnfilled = statement<never>(
  "ad-requests.unfilled",
  `insert into ad_requests (bot_id, user_id, code, outcome, reason, occurred_at)
   select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[])`,
);
const insertFilled = statement<never>(
  "ad-requests.filled",
  `insert into ad_requests (bot_id, user_id, code, outcome, campaign_id, creative_id, occurred_at)
   values ($1, $2, $3, 'filled', $4, $5, $6)`,
);

/** Stores what was not granted, many in one commit. */
export function unfilledRequestRecorder(database: AdDatabase): CommitGroup<UnfilledRequest, undefined> {
  return groupCommits<UnfilledRequest, undefined>({
    maxInFlight: database.kind === "embedded" ? 1 : 2,
    async run(batch) {
      await database.run(insertUnfilled, [
        batch.map(({ botId }) => botId),
        batch.map(({ userId }) => userId),
        batch.map(({ code }) => code ?? null),
        batch.map(({ outcome }) => outcome),
        batch.map(({ reason }) => reason),
        batch.map(({ now }) => now),
      ]);
      return batch.map(() => undefined);
    },
  });
}

/** In the transaction that begins the session. */
export async function recordFilledRequest(
  tx: AdTransaction,
  filled: { botId: string; userId: string; code: string; campaignId: string; creativeId: string; now: Date },
): Promise<void> {
  const { botId, userId, code, campaignId, creativeId, now } = filled;
  await tx.run(insertFilled, [botId, userId, code, campaignId, creativeId, now]);
}

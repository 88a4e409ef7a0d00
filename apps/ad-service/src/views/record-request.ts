import { type CommitGroup, groupCommits } from "@intermission/postgres/group-commits";
import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase } from "../ad-database.ts";

/** A refused ad request. Only requests of users whose identity Telegram has confirmed are stored. */
export interface UnfilledRequest {
  botId: string;
  userId: string;
  code: string | undefined;
  /** `limited` (by the publisher's cooldown or cap) and `refused` (because of the code) end before an ad is requested. */
  outcome: "no-ad" | "limited" | "refused";
  reason: string;
  now: Date;
}

const insertUnfilled = statement<never>(
  "ad-requests.unfilled",
  `insert into ad_requests (bot_id, user_id, code, outcome, reason, occurred_at)
   select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[])`,
);

/** Stores unfilled requests, many in one commit. */
export function unfilledRequestRecorder(database: AdDatabase): CommitGroup<UnfilledRequest, undefined> {
  return groupCommits<UnfilledRequest, undefined>({
    store: database.kind,
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

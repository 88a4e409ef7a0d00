import { type CommitGroup, groupCommits } from "@intermission/postgres/group-commits";
import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase } from "../ad-database.ts";
import type { CountableClick } from "./count-click.ts";

/** A visit that earned nothing, and why. */
export interface RefusedClick
  extends Pick<CountableClick, "botId" | "clickId" | "code" | "userId" | "userAgent" | "addressHash" | "occurredAt"> {
  /** A short word; never what the visitor sent. */
  reason: string;
}

const insert = statement<never>(
  "direct-links.refuse",
  `insert into clicks (bot_id, click_id, code, user_id, outcome, user_agent, address_hash, occurred_at)
   select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bytea[], $8::timestamptz[])
   on conflict do nothing`,
);

/** Stores refusals, many in one commit. */
export function refusalRecorder(database: AdDatabase): CommitGroup<RefusedClick, undefined> {
  return groupCommits<RefusedClick, undefined>({
    maxInFlight: database.kind === "embedded" ? 1 : 2,
    async run(batch) {
      await database.run(insert, [
        batch.map(({ botId }) => botId),
        batch.map(({ clickId }) => clickId),
        batch.map(({ code }) => code),
        batch.map(({ userId }) => userId),
        batch.map(({ reason }) => reason),
        batch.map(({ userAgent }) => userAgent),
        batch.map(({ addressHash }) => addressHash),
        batch.map(({ occurredAt }) => occurredAt),
      ]);
      return batch.map(() => undefined);
    },
  });
}

import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase } from "../ad-database.ts";

const remember = statement<never>(
  "statistics.remember-share",
  `with latest as (select percent from publisher_shares order by since desc limit 1)
   insert into publisher_shares (since, percent)
   select case when exists (select 1 from latest) then $2::timestamptz else '-infinity' end, $1
   where $1 is distinct from (select percent from latest)
   on conflict (since) do update set percent = excluded.percent`,
);

/** Earlier charges keep the share of their time: a changed setting does not change figures already reported. */
export async function rememberPublisherShare(database: AdDatabase, { percent, now }: { percent: number; now: Date }) {
  await database.run(remember, [percent, now]);
}

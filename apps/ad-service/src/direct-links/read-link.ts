import type { EventType } from "@intermission/ad-core/client-api";
import { type CommitGroup, groupCommits } from "@intermission/postgres/group-commits";
import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase } from "../ad-database.ts";
import { selectUnfinishedViews } from "../ad-sessions/find-unfinished-views.ts";
import type { UnfinishedViews, Viewer } from "../viewers/limit-of-viewer.ts";
import type { AddressHashes } from "./address-hash.ts";
import { LATEST_OF_NETWORK } from "./click-signals.ts";

export interface LinkQuestion {
  code: string;
  address: AddressHashes;
  now: Date;
}

/** All that decides what a visit is worth, in one read. */
export interface Link {
  botId: string;
  code: string;
  userId: string;
  reference: string | null;
  issuedAt: Date;
  expiresAt: Date;
  earned: EventType[];
  botName: string;
  botUsername: string | null;
  isSuspended: boolean;
  cooldownSeconds: number;
  dailyCap: number;
  viewer: Viewer | undefined;
  /** Views of other codes: what they may still earn is bounded like what was earned. */
  unfinished: UnfinishedViews;
  /** When clicks from this address counted within a day, newest first. */
  addressClicks: Date[];
  /** Of a click that was held or refused for looking wrong: the code has used up its link. */
  withheldCampaignId: string | null;
  /** Users of the latest clicks of this network on this day. */
  usersOfNetwork: number;
  /** How many clicks from this address counted on this day (UTC). */
  addressCounted: number;
}

interface LinkRow extends Omit<Link, "viewer" | "unfinished"> {
  position: number;
  day: string | null;
  earnedToday: number;
  lastEarnedAt: Date | null;
  count: number;
  lastActiveAt: Date | null;
  firstDeadline: Date | null;
}

/*
 * The prefix names the bot, whose id leads every key. The plan is made while tables may be empty and stays in use, so
 * nothing here leaves a choice of how to look a row up: joined plainly, all codes of the bot were read for each visit.
 */
const read = statement<LinkRow>(
  "direct-links.read",
  `select asked.position, codes.bot_id as "botId", codes.code, codes.user_id as "userId",
     nullif(codes.reference, '') as reference, codes.issued_at as "issuedAt", codes.expires_at as "expiresAt",
     array(select event from events where events.bot_id = codes.bot_id and events.code = codes.code) as earned,
     bots.name as "botName", bots.username as "botUsername", bots.is_suspended as "isSuspended",
     bots.cooldown_seconds as "cooldownSeconds", bots.daily_cap as "dailyCap",
     viewers.day::text as day, viewers.earned_today as "earnedToday", viewers.last_earned_at as "lastEarnedAt",
     unfinished.*,
     coalesce(address.clicks, '{}') || coalesce(before.clicks, '{}') as "addressClicks",
     coalesce(address.counted, 0) as "addressCounted",
     (select campaign_id from withheld_clicks where withheld_clicks.bot_id = codes.bot_id
       and withheld_clicks.code = codes.code and outcome in ('held', 'refused', 'released') limit 1) as "withheldCampaignId",
     (select count(distinct (bot_id, user_id)) from (
       (select bot_id, user_id, occurred_at from events where events.network_hash = asked.network_hash
        order by occurred_at desc limit ${LATEST_OF_NETWORK})
       union all
       (select bot_id, user_id, occurred_at from withheld_clicks
        where withheld_clicks.network_hash = asked.network_hash order by occurred_at desc limit ${LATEST_OF_NETWORK})
       order by occurred_at desc limit ${LATEST_OF_NETWORK}
     ) as latest) as "usersOfNetwork"
   from unnest($1::text[], $2::bytea[], $3::bytea[], $4::bytea[], $5::timestamptz[])
     with ordinality as asked(code, address_hash, hash_before, network_hash, now, position)
   join bots on bots.code_prefix = left(asked.code, 4)
   cross join lateral (
     select * from codes where codes.bot_id = bots.bot_id and codes.code = asked.code limit 1
   ) as codes
   left join address_days as address on address.address_hash = asked.address_hash
   left join address_days as before on before.address_hash = asked.hash_before
   left join viewers on viewers.bot_id = codes.bot_id and viewers.user_id = codes.user_id
   cross join lateral (
     ${selectUnfinishedViews({ botId: "codes.bot_id", userId: "codes.user_id", code: "codes.code", now: "asked.now" })}
   ) as unfinished`,
);

/** Reads links; those that are asked for at once share a query. Undefined: there is no such code. */
export function linkReader(database: AdDatabase): CommitGroup<LinkQuestion, Link | undefined> {
  return groupCommits<LinkQuestion, Link | undefined>({
    maxInFlight: database.kind === "embedded" ? 1 : 2,
    async run(batch) {
      const links: (Link | undefined)[] = batch.map(() => undefined);
      const rows = await database.run(read, [
        batch.map(({ code }) => code),
        batch.map(({ address }) => address.today),
        batch.map(({ address }) => address.yesterday),
        batch.map(({ address }) => address.network),
        batch.map(({ now }) => now),
      ]);
      for (const row of rows) links[row.position - 1] = linkOf(row);
      return links;
    },
  });
}

function linkOf(row: LinkRow): Link {
  const { position: _position, day, earnedToday, lastEarnedAt, count, lastActiveAt, firstDeadline, ...link } = row;
  return {
    ...link,
    viewer: day === null ? undefined : { day, earnedToday, lastEarnedAt },
    unfinished: { count, lastActiveAt: lastActiveAt ?? undefined, firstDeadline: firstDeadline ?? undefined },
  };
}

import { noAdvertiserParty, noOperatorParty, noPayee } from "@intermission/operator-api/parties";
import { type Statement, statement, type Transaction } from "@intermission/postgres/open-database";
import { endOfMonth } from "../money/months.ts";
import { partyOf } from "../money/parties.ts";
import type { CreativeToFile, FactsToFile, FiledRecord, ShowsOfMonth } from "./plan-filings.ts";

type Reader = Pick<Transaction, "run">;

/** The sandbox of VK ORD: https://ord.vk.com/help/api/api.html. */
const SANDBOX = "https://api-sandbox.ord.vk.com";

const readAccount = statement<{ url: string; isRunning: boolean }>(
  "ord.read-account",
  `select url, coalesce(run_until > clock_timestamp(), false) as "isRunning" from ord_account where is_only`,
);

export async function findAccount(database: Reader): Promise<{ url: string; isRunning: boolean } | undefined> {
  return (await database.run(readAccount, []))[0];
}

// An ad is subject to filing if it has a category, or if one of its advertisers is a party in Russia. Tags are excluded: their
// network files its ads. Unnamed, since it reads all creatives, and runs rarely.
const readCreatives: Statement<CreativeToFile> = {
  name: "",
  text: `with parties as (
     select substr(account, 12) as advertiser_id from money_parties
     where account like 'advertiser:%' and details ->> 'person_kind' is not null
   ),
   shown as (
     select creative_id, campaigns.advertiser_id, landing_url from campaign_creatives join campaigns using (campaign_id)
     union all
     select creative_id, advertiser_id, null from creatives where advertiser_id is not null
   )
   select creative_id as "creativeId", coalesce(name, creative_id) as name, kktu, ad_description as "adDescription", erid,
     coalesce(renditions -> -1 ->> 'fileName', file_name) as "fileName",
     array(select distinct advertiser_id from shown where shown.creative_id = creatives.creative_id order by 1) as "advertiserIds",
     array(select distinct landing_url from shown where shown.creative_id = creatives.creative_id and landing_url is not null
       order by 1) as "landingUrls"
   from creatives
   where kind <> 'vast' and (kktu is not null or creative_id in (
     select creative_id from shown where advertiser_id in (select advertiser_id from parties)))
   order by creative_id`,
};

// Filters by bot first, as in the key of the sums. Their days begin at midnight UTC.
const readShows = statement<ShowsOfMonth>(
  "ord.read-shows",
  `select bots.bot_id as "botId", bots.name as "botName", username, creative_id as "creativeId",
     shows, paid as "paidShows", spend::text as "spendMicros"
   from bots cross join lateral (
     select creative_id, sum(starts)::integer as shows, sum(rewards + interstitials)::integer as paid, sum(spend_micros) as spend
     from stats_sums
     where stats_sums.bot_id = bots.bot_id and span = 'day' and starts_at >= $1 and starts_at < $2
       and creative_id = any ($3)
     group by creative_id
   ) as sums
   where shows > 0 or spend <> 0
   order by bots.bot_id, creative_id`,
);

const readParties = statement<{ account: string; details: Record<string, unknown> }>(
  "ord.read-parties",
  "select account, details from money_parties where account = any ($1)",
);

const readNames = statement<{ advertiserId: string; name: string }>(
  "ord.read-names",
  `select advertiser_id as "advertiserId", name from advertisers where advertiser_id = any ($1) order by advertiser_id`,
);

const readRecords = statement<FiledRecord>(
  "ord.read-records",
  `select external_id as "externalId", filed_hash as "filedHash", filed_at as "filedAt", erid, fault, is_refused as "isRefused"
   from ord_records where origin = $1`,
);

/** The facts to file of a past month, and the records that were filed at this address. */
export async function readFacts(
  database: Reader,
  {
    month,
    url,
    publicUrl,
    currency,
  }: { month: string; url: string | undefined } & Pick<FactsToFile, "publicUrl" | "currency">,
): Promise<FactsToFile> {
  const creatives = await database.run(readCreatives, []);
  const ids = creatives.map(({ creativeId }) => creativeId);
  const shows = await database.run(readShows, [new Date(`${month}-01T00:00:00Z`), endOfMonth(month), ids]);
  const advertiserIds = [...new Set(creatives.flatMap((creative) => creative.advertiserIds))];
  const botIds = [...new Set(shows.map(({ botId }) => botId))];
  const accounts = [
    "operator",
    ...advertiserIds.map((id) => `advertiser:${id}`),
    ...botIds.map((id) => `publisher:${id}`),
  ];
  const details = new Map((await database.run(readParties, [accounts])).map((row) => [row.account, row.details]));
  const names = await database.run(readNames, [advertiserIds]);
  const records = url === undefined ? [] : await database.run(readRecords, [originOf(url)]);
  return {
    month,
    publicUrl,
    currency,
    isSandbox: url !== undefined && isSandbox(url),
    operator: partyOf(details.get("operator") ?? {}, noOperatorParty),
    advertisers: new Map(
      names.map(({ advertiserId, name }) => [
        advertiserId,
        { name, party: partyOf(details.get(`advertiser:${advertiserId}`) ?? {}, noAdvertiserParty) },
      ]),
    ),
    payees: new Map(botIds.map((botId) => [botId, partyOf(details.get(`publisher:${botId}`) ?? {}, noPayee)])),
    creatives,
    shows,
    records: new Map(records.map((record) => [record.externalId, record])),
  };
}

/** Erids of the sandbox are in no register, so no ad is marked with them. */
export function isSandbox(url: string): boolean {
  return originOf(url) === SANDBOX;
}

export function originOf(url: string): string {
  return new URL(url).origin;
}

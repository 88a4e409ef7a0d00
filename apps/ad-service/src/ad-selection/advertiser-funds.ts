import { statement, type Transaction } from "@intermission/postgres/open-database";
import { paidIn, spentBy } from "../money/ledger.ts";

/**
 * What an advertiser with a limit may spend, and has spent. All its campaigns on a node share one object. Advertisers on
 * credit without a limit have none.
 */
export interface AdvertiserFunds {
  /** What was paid in, and the credit. */
  limitMicros: number;
  /** By all its campaigns, less refunds. */
  spentMicros: number;
  /** The prices of views in flight. */
  heldMicros: number;
}

/** Most views older than this were abandoned. A view that ends later is still counted and paid. */
const IN_FLIGHT = "interval '15 minutes'";

/**
 * SQL of the number of a campaign's views in flight at `$1`. It names no week: a range of codes would be combined with the
 * campaign's index by reading a part of the codes' index, which costs more than a look into each week.
 */
export function viewsInFlightOf(campaignId: string): string {
  return `(select count(*) from views
    where views.campaign_id = ${campaignId} and state in ('opened', 'playing', 'watched') and not is_test and charged_at is null
      and opened_at > $1::timestamptz - ${IN_FLIGHT})`;
}

/** SQL: whether the advertiser may spend only so much. A prepaid one has a credit of 0. */
const isLimited = "credit_limit_micros is not null";
const today = "($1::timestamptz at time zone 'utc')::date";

const selectFunds = (days: string) => `select advertiser_id as "advertiserId",
     (${paidIn("advertisers.advertiser_id")} + credit_limit_micros)::float8 as "limitMicros",
     ${spentBy("advertisers.advertiser_id", days)}::float8 as "spentMicros",
     (select coalesce(sum(view_price_micros * ${viewsInFlightOf("held.campaign_id")}), 0) from campaigns as held
      where held.advertiser_id = advertisers.advertiser_id and view_price_micros > 0)::float8
       + (select coalesce(sum(price_micros), 0) from tasks
          where campaign_id in (select own.campaign_id from campaigns as own where own.advertiser_id = advertisers.advertiser_id)
            and state in ('opened', 'held') and not is_paid and not is_test)::float8 as "heldMicros"
   from advertisers`;

interface FundsRow extends AdvertiserFunds {
  advertiserId: string;
}

const ofToday = statement<FundsRow>("campaigns.funds-of-today", `${selectFunds(`day >= ${today}`)} where ${isLimited}`);
const ofOne = statement<FundsRow>(
  "campaigns.funds-of-one",
  `${selectFunds("true")} where ${isLimited} and advertiser_id = $2`,
);
const earlierDays = statement<Pick<FundsRow, "advertiserId" | "spentMicros">>(
  "campaigns.spent-earlier",
  `select advertiser_id as "advertiserId", ${spentBy("advertisers.advertiser_id", `day < ${today}`)}::float8 as "spentMicros"
   from advertisers where ${isLimited}`,
);

/** What advertisers with a limit spent on the days before today (UTC). */
export async function readEarlierSpend(database: Pick<Transaction, "run">, now: Date): Promise<Map<string, number>> {
  const rows = await database.run(earlierDays, [now]);
  return new Map(rows.map(({ advertiserId, spentMicros }) => [advertiserId, spentMicros]));
}

/** The funds of all advertisers with a limit. */
export async function readFunds(
  database: Pick<Transaction, "run">,
  earlier: ReadonlyMap<string, number>,
  now: Date,
): Promise<Map<string, AdvertiserFunds>> {
  const rows = await database.run(ofToday, [now]);
  return new Map(
    rows.map(({ advertiserId, ...funds }) => [
      advertiserId,
      { ...funds, spentMicros: funds.spentMicros + (earlier.get(advertiserId) ?? 0) },
    ]),
  );
}

/** Null: the advertiser has no limit. */
export async function readFundsOf(
  database: Pick<Transaction, "run">,
  advertiserId: string,
  now: Date,
): Promise<AdvertiserFunds | null> {
  const [row] = await database.run(ofOne, [now, advertiserId]);
  if (row === undefined) return null;
  const { limitMicros, spentMicros, heldMicros } = row;
  return { limitMicros, spentMicros, heldMicros };
}

const lockAdvertiser = statement<never>(
  "campaigns.lock-funds",
  "select from advertisers where advertiser_id = $1 for no key update",
);

/** Other nodes wait with this advertiser's last ads until the transaction ends. */
export async function lockFunds(tx: Transaction, advertiserId: string): Promise<void> {
  await tx.run(lockAdvertiser, [advertiserId]);
}

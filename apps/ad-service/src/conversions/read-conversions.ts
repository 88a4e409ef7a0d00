import type { ConversionRefusal } from "@intermission/operator-api/conversions";
import { type Database, type Statement, statement } from "@intermission/postgres/open-database";
import { jsonInteger } from "@intermission/server/exact-json";
import type { ConversionKey } from "./reverse-conversion.ts";

export interface Conversion extends ConversionKey {
  botId: string;
  campaignId: string;
  creativeId: string | null;
  valueMicros: bigint | null;
  currency: string;
  occurredAt: Date;
  reversedAt: Date | null;
}

// Unnamed, since an operator runs it rarely, and its best index depends on the filter.
const list: Statement<Omit<Conversion, "valueMicros"> & { valueMicros: string | null }> = {
  name: "",
  text: `select click_id as "clickId", event, conversion_id as "conversionId", bot_id as "botId", campaign_id as "campaignId",
     creative_id as "creativeId", value_micros::text as "valueMicros", currency, occurred_at as "occurredAt",
     reversed_at as "reversedAt"
   from conversions
   where ($1::text is null or bot_id = $1) and ($2::text is null or campaign_id = $2) and ($3::text is null or event = $3)
     and ($5::text is null or (occurred_at, click_id, event, conversion_id) < (
       select last.occurred_at, last.click_id, last.event, last.conversion_id from conversions as last
       where last.click_id = $5 and last.event = $6 and last.conversion_id = $7))
   order by occurred_at desc, click_id desc, event desc, conversion_id desc limit $4`,
};

/** The latest first. */
export async function listConversions(
  database: Database,
  of: {
    botId?: string | undefined;
    campaignId?: string | undefined;
    event?: string | undefined;
    after?: ConversionKey | undefined;
    limit: number;
  },
): Promise<{ rows: Conversion[]; next: ConversionKey | null }> {
  const { after, limit } = of;
  const key = [after?.clickId, after?.event, after?.conversionId];
  const read = await database.run(list, [of.botId, of.campaignId, of.event, limit + 1, ...key]);
  const rows = read
    .slice(0, limit)
    .map((row) => ({ ...row, valueMicros: row.valueMicros === null ? null : BigInt(row.valueMicros) }));
  return { rows, next: read.length > limit ? (rows.at(-1) ?? null) : null };
}

interface ConversionPeriod {
  botId?: string | undefined;
  campaignId?: string | undefined;
  /** Of these campaigns only, such as those of one advertiser. */
  campaignIds?: readonly string[] | undefined;
  creativeId?: string | undefined;
  /** Whole quarters of an hour: from (included) to (excluded). */
  from: Date;
  to: Date;
}

/** What a period brought for one event, in one currency. */
interface ConversionSum {
  event: string;
  currency: string;
  /** Reported, less those that were reversed; negative if more were reversed than reported in the period. */
  conversions: number;
  /** The value of these. */
  valueMicros: bigint;
  reversed: number;
  reversedMicros: bigint;
}

const sum = statement<
  Omit<ConversionSum, "valueMicros" | "reversedMicros"> & { valueMicros: string; reversedMicros: string }
>(
  "conversions.sum",
  `select event, currency, (sum(reported) - sum(reversed))::bigint as conversions,
     (sum(reported_micros) - sum(reversed_micros))::text as "valueMicros",
     sum(reversed)::bigint as reversed, sum(reversed_micros)::text as "reversedMicros"
   from conversion_quarters
   where quarter >= $1 and quarter < $2 and ($3::text is null or bot_id = $3) and ($4::text is null or campaign_id = $4)
     and ($5::text is null or creative_id = $5) and ($6::text[] is null or campaign_id = any ($6))
   group by event, currency order by sum(reported) desc, event, currency limit 200`,
);

/** The sums of each event and currency: installs and purchases are never one number. At most 200, the most frequent first. */
export async function sumConversions(
  database: Pick<Database, "run">,
  period: ConversionPeriod,
): Promise<ConversionSum[]> {
  const { from, to, botId, campaignId, campaignIds, creativeId } = period;
  const rows = await database.run(sum, [from, to, botId, campaignId, creativeId, campaignIds]);
  return rows.map((row) => ({
    ...row,
    valueMicros: BigInt(row.valueMicros),
    reversedMicros: BigInt(row.reversedMicros),
  }));
}

/** Amounts keep all their digits. */
export function sumInJson(sum: ConversionSum) {
  return {
    ...sum,
    valueMicros: jsonInteger(sum.valueMicros),
    reversedMicros: jsonInteger(sum.reversedMicros),
  };
}

const sumRefusals = statement<{ reason: ConversionRefusal; count: number }>(
  "conversions.sum-refusals",
  `select reason, sum(count)::bigint as count from conversion_refusals
   where day >= ($1::timestamptz at time zone 'utc')::date and day < ($2::timestamptz at time zone 'utc')::date + 1
   group by reason order by 2 desc, 1`,
);

/** Refused postbacks of all advertisers, by reason, on the days (UTC) that the period touches. */
export async function sumConversionRefusals(
  database: Pick<Database, "run">,
  { from, to }: Pick<ConversionPeriod, "from" | "to">,
): Promise<Partial<Record<ConversionRefusal, number>>> {
  const rows = await database.run(sumRefusals, [from, new Date(to.getTime() - 1)]);
  return Object.fromEntries(rows.map(({ reason, count }) => [reason, count]));
}

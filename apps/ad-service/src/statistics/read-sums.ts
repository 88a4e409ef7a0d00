import type { Database, Statement } from "@intermission/postgres/open-database";
import { type AudienceKey, audienceKeys } from "../viewers/audience.ts";
import { noSums, type Reasons, type Sums } from "./figures-of.ts";
import { type Measure, measureRows, measures, type ReasonedMeasure, reasonedMeasures } from "./measures.ts";
import { audienceTables, levelOf, reasonTables, sumTables } from "./sum-tables.ts";
import { type Bucket, piecesOf } from "./time-pieces.ts";

/** What sums are grouped by, beside the time. */
export type GroupKey = "bot" | "campaign" | "creative" | "advertiser" | AudienceKey;

/** Which sums are read; undefined: all. */
export interface SumFilter extends Partial<Record<AudienceKey, string | undefined>> {
  botIds?: readonly string[] | undefined;
  campaignIds?: readonly string[] | undefined;
  creativeId?: string | undefined;
}

export interface GroupSums {
  /** The key of its bucket. */
  bucket: string;
  /** In the order in which the groups were requested. */
  keys: string[];
  sums: Sums;
  /** Empty for sums by audience, which are not counted by reason. */
  reasons: Reasons;
}

const columnOf = {
  bot: "sums.bot_id",
  campaign: "sums.campaign_id",
  creative: "sums.creative_id",
  // What belongs to no campaign belongs to no advertiser.
  advertiser: "coalesce(campaigns.advertiser_id, '')",
  country: "sums.country",
  platform: "sums.platform",
  language: "sums.language",
  premium: "sums.premium",
} as const satisfies Record<GroupKey, string>;

/** Whether the sums by audience are needed, which have neither creatives nor reasons. */
function isOfAudience({ of, by }: { of: SumFilter; by: readonly GroupKey[] }): boolean {
  return audienceKeys.some((key) => of[key] !== undefined || by.includes(key));
}

const campaignKeys: readonly GroupKey[] = ["campaign", "creative", "advertiser"];

/** The level of the sums with the detail that a question needs. */
function neededLevel({ of, by }: { of: SumFilter; by: readonly GroupKey[] }) {
  return levelOf({
    needsBot: of.botIds !== undefined || by.includes("bot"),
    needsCampaign:
      of.campaignIds !== undefined || of.creativeId !== undefined || campaignKeys.some((key) => by.includes(key)),
  });
}

interface SumRow extends Record<Measure, number> {
  bucket: string;
  keys: string[];
  // Text: sums may have more digits than a number.
  spendMicros: string;
  revenueMicros: string;
  viewRevenueMicros: string;
}

interface ReasonRow {
  bucket: string;
  keys: string[];
  measure: ReasonedMeasure;
  reason: string;
  count: number;
}

/** More groups than this are no report; some 50 MB of memory. */
export const MAX_GROUPS = 50_000;

const countColumns = measures
  .map((measure) => `sum(${measureRows[measure].column})::bigint as "${measure}"`)
  .join(", ");
const sumColumns = `${countColumns}, sum(spend_micros)::text as "spendMicros", sum(revenue_micros)::text as "revenueMicros",
  sum(view_revenue_micros)::text as "viewRevenueMicros"`;

/**
 * The sums of each bucket and group. Those of a bucket are read as few pieces, days of UTC where possible, each through the
 * index by span and time.
 */
export async function readSums(
  database: Pick<Database, "run">,
  { buckets, of, by }: { buckets: readonly Bucket[]; of: SumFilter; by: readonly GroupKey[] },
): Promise<GroupSums[]> {
  const ofAudience = isOfAudience({ of, by });
  const level = neededLevel({ of, by });
  const pieces = piecesOf(buckets);
  const filters = filtersOf(of);
  const values = [
    pieces.map(({ key }) => key),
    pieces.map(({ span }) => span),
    pieces.map(({ from }) => from),
    pieces.map(({ to }) => to),
    ...filters.map(({ value }) => value),
  ];
  const statementOf = (table: string, columns: string, more = ""): Statement<never> => ({
    // Unnamed: its best plan depends on the filters.
    name: "",
    text: `select piece.key as bucket, array[${by.map((key) => columnOf[key]).join(", ")}]::text[] as keys, ${columns}
      from unnest($1::text[], $2::text[], $3::timestamptz[], $4::timestamptz[]) as piece (key, span, since, before)
      cross join lateral (
        select * from ${table} where span = piece.span and starts_at >= piece.since and starts_at < piece.before
          ${filters.map(({ column }, index) => `and ${column} = any ($${index + 5}::text[])`).join(" ")}
        offset 0
      ) as sums${by.includes("advertiser") ? " left join campaigns on campaigns.campaign_id = sums.campaign_id" : ""}
      group by piece.key${by.map((key) => `, ${columnOf[key]}`).join("")}${more} limit ${MAX_GROUPS + 1}`,
  });
  const [sums, reasons] = await Promise.all([
    database.run<SumRow>(statementOf((ofAudience ? audienceTables : sumTables)[level].table, sumColumns), values),
    ofAudience
      ? []
      : database.run<ReasonRow>(
          statementOf(
            reasonTables[level].table,
            `measure, reason, sum(count)::bigint as count`,
            ", measure, reason having sum(count) <> 0",
          ),
          values,
        ),
  ]);
  const byGroup = Map.groupBy(reasons, groupOf);
  return sums.map((row) => ({
    bucket: row.bucket,
    keys: row.keys,
    sums: sumsOf(row),
    reasons: reasonsOf(byGroup.get(groupOf(row)) ?? []),
  }));
}

function filtersOf({ botIds, campaignIds, creativeId, ...audience }: SumFilter) {
  const filters: { column: string; value: readonly string[] }[] = [];
  if (botIds) filters.push({ column: "bot_id", value: botIds });
  if (campaignIds) filters.push({ column: "campaign_id", value: campaignIds });
  if (creativeId !== undefined) filters.push({ column: "creative_id", value: [creativeId] });
  for (const key of audienceKeys) {
    const value = audience[key];
    if (value !== undefined) filters.push({ column: key, value: [value] });
  }
  return filters;
}

const groupOf = ({ bucket, keys }: { bucket: string; keys: readonly string[] }) => JSON.stringify([bucket, ...keys]);

function sumsOf(row: SumRow): Sums {
  return {
    counts: Object.fromEntries(measures.map((measure) => [measure, row[measure]])) as Sums["counts"],
    spendMicros: BigInt(row.spendMicros),
    revenueMicros: BigInt(row.revenueMicros),
    viewRevenueMicros: BigInt(row.viewRevenueMicros),
  };
}

function reasonsOf(rows: readonly ReasonRow[]): Reasons {
  const reasons: Reasons = {};
  for (const { measure, reason, count } of rows) addReason(reasons, measure, { [reason]: count });
  return reasons;
}

function addReason(reasons: Reasons, measure: ReasonedMeasure, counts: Readonly<Record<string, number>>): void {
  const known = reasons[measure] ?? {};
  for (const [reason, count] of Object.entries(counts)) known[reason] = (known[reason] ?? 0) + count;
  reasons[measure] = known;
}

/** The total of groups. */
export function addSums(groups: readonly Pick<GroupSums, "sums" | "reasons">[]): Pick<GroupSums, "sums" | "reasons"> {
  const counts = { ...noSums.counts };
  let { spendMicros, revenueMicros, viewRevenueMicros } = noSums;
  const reasons: Reasons = {};
  for (const group of groups) {
    for (const measure of measures) counts[measure] += group.sums.counts[measure];
    spendMicros += group.sums.spendMicros;
    revenueMicros += group.sums.revenueMicros;
    viewRevenueMicros += group.sums.viewRevenueMicros;
    for (const measure of reasonedMeasures) {
      const ofMeasure = group.reasons[measure];
      if (ofMeasure) addReason(reasons, measure, ofMeasure);
    }
  }
  return { sums: { counts, spendMicros, revenueMicros, viewRevenueMicros }, reasons };
}

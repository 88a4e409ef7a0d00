import type { CreativeSort } from "@intermission/operator-api/creative-words";
import type { Creative, ListedCreative } from "@intermission/operator-api/creatives";
import { findPatterns } from "@intermission/postgres/find-patterns";
import {
  byName,
  keysetPage,
  type ListOrder,
  type ListPage,
  listPage,
  nullsLast,
  type SortValue,
  sortedPage,
  sortOf,
} from "@intermission/postgres/keyset";
import type { Database, Statement } from "@intermission/postgres/open-database";
import { type ColumnsOf, selected } from "@intermission/postgres/row-columns";
import { type CreativeKind, type CreativeRow, creativeOf, readColumns, requireCreative } from "./creatives.ts";

export interface CreativeList {
  order: ListOrder;
  after?: string | undefined;
  limit: number;
  kind?: CreativeKind | undefined;
  advertiserId?: string | undefined;
  review?: Creative["review"] | undefined;
  /** Each of its words is in the name or the address, or in the id. */
  find?: string | undefined;
  sort?: CreativeSort | `-${CreativeSort}` | undefined;
  /** Whose campaigns are named; undefined: all. */
  campaignsOf?: string | undefined;
}

/** The creatives that match, by `$1` to `$4`. */
const matching = `($1::text is null or kind = $1) and ($2::text is null or advertiser_id = $2)
   and ($3::text is null or review = $3)
   and ($4::text[] = '{}' or creative_id ~ all ($4)
     or normalize(concat_ws(' ', creatives.name, url), nfkc) ~ all ($4))`;

const advertiserOf = (of: string) =>
  `(select advertisers.name from advertisers where advertisers.advertiser_id = ${of}.advertiser_id)`;
/** Of `$5`, if it names an advertiser. */
const showing = `from campaign_creatives join campaigns using (campaign_id)
       where campaign_creatives.creative_id = creatives.creative_id and is_active and status <> 'archived'
         and ($5::text is null or campaigns.advertiser_id = $5)`;

const listedColumns = {
  ...readColumns,
  advertiser: advertiserOf("creatives"),
  campaigns: `coalesce((select jsonb_agg(jsonb_build_object('campaignId', campaign_id, 'name', name) order by created_at desc)
     from (select campaign_id, campaigns.name, campaigns.created_at ${showing}
       order by campaigns.created_at desc, campaign_id desc limit 5) as latest), '[]')`,
  campaignCount: `(select count(*)::integer ${showing})`,
} satisfies ColumnsOf<CreativeRow<ListedCreative>>;

const sorts: Record<CreativeSort, SortValue> = {
  creative: byName("name", "creative_id"),
  state: (of) => `${of}.review collate "C"`,
  advertiser: (of, isDescending) =>
    `coalesce(lower(${advertiserOf(of)}), ${isDescending ? "''" : "chr(1114111)"}) collate "C"`,
  duration: nullsLast("duration_ms", { first: "0", last: "2147483647" }),
  size: nullsLast("byte_length", { first: "0", last: "9223372036854775807" }),
  added: (of) => `${of}.created_at`,
};

/** Unnamed: the plan depends on the filter and the order, and people run it rarely. */
function pageStatement({ order, sort }: Pick<CreativeList, "order" | "sort">): Statement<CreativeRow<ListedCreative>> {
  const keys = { table: "creatives", after: "$6", limit: "$7" };
  const { value, isDescending } = sortOf<CreativeSort>(sort ?? "added");
  const { where, end } =
    sort === undefined
      ? keysetPage(order, { ...keys, columns: ["created_at", "creative_id"] })
      : sortedPage({ value: sorts[value], isDescending }, { ...keys, id: "creative_id" });
  return { name: "", text: `select ${selected(listedColumns)} from creatives where ${matching} and ${where} ${end}` };
}

const count: Statement<{ total: number }> = {
  name: "",
  text: `select count(*)::integer as total from creatives where ${matching}`,
};

/** A page of the creatives that match, and how many there are. */
export async function listCreatives(
  database: Database,
  of: CreativeList,
): Promise<ListPage<ListedCreative> & { total: number }> {
  await requireCreative(database, of.after);
  const filter = [of.kind, of.advertiserId, of.review, findPatterns(of.find)];
  const read = await database.run(pageStatement(of), [...filter, of.campaignsOf, of.after, of.limit + 1]);
  const [counted] = await database.run(count, filter);
  return { ...listPage(read.map(creativeOf), of.limit, ({ creativeId }) => creativeId), total: counted?.total ?? 0 };
}

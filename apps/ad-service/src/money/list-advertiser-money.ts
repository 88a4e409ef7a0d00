import type { Advertiser } from "@intermission/operator-api/advertisers";
import type { ListedMoney, MoneySort } from "@intermission/operator-api/money";
import { findPatterns } from "@intermission/postgres/find-patterns";
import { type ListPage, listPage, type SortValue, sortedPage, sortOf } from "@intermission/postgres/keyset";
import type { Database, Statement } from "@intermission/postgres/open-database";
import { paidIn, spentBy } from "./ledger.ts";
import { creditLimit, type MoneyRow, withAvailable } from "./terms.ts";

export interface MoneyList {
  /** The id or the name at which an earlier page ended. */
  after?: string | undefined;
  limit: number;
  /** Each of its words is in the name, or in the id. */
  find?: string | undefined;
  state?: Advertiser["state"] | undefined;
  /** Only those that have nothing left. */
  empty?: boolean | undefined;
  sort?: MoneySort | `-${MoneySort}` | undefined;
}

type Row = MoneyRow & { campaigns: number };

const balance = `${paidIn("advertisers.advertiser_id")} - ${spentBy("advertisers.advertiser_id")}`;
/** `left_over`: infinite without a limit. What is not sorted or filtered by is summed for the rows of the page only. */
const source = `(select advertiser_id, name, name_key, state, billing, ${creditLimit} as credit, ${balance} as balance,
     case when billing = 'credit' and credit_limit_micros is null then 'Infinity'
       else greatest(0, coalesce(credit_limit_micros, 0) + ${balance}) end as left_over,
     (select count(*)::integer from campaigns where campaigns.advertiser_id = advertisers.advertiser_id) as campaigns
   from advertisers)`;

/** The advertisers that match, by `$1` to `$3`. */
const matching = `($1::text[] = '{}' or advertiser_id ~ all ($1) or normalize(name, nfkc) ~ all ($1))
   and ($2::text is null or state = $2) and (not $3::boolean or left_over = 0)`;

const sorts: Record<MoneySort, SortValue> = {
  name: (of) => `${of}.name_key`,
  state: (of) => `${of}.state`,
  campaigns: (of) => `${of}.campaigns`,
  billing: (of) => `${of}.billing`,
  balance: (of) => `${of}.balance`,
  available: (of) => `${of}.left_over`,
};

/** Unnamed: the plan depends on the filter and the order, and people run it rarely. */
function pageStatement(sort: MoneySort | `-${MoneySort}`): Statement<Row> {
  const { value, isDescending } = sortOf<MoneySort>(sort);
  const keys = { table: "listed", source, id: "advertiser_id", after: "$4", limit: "$5" };
  const { where, end } = sortedPage({ value: sorts[value], isDescending }, keys);
  return {
    name: "",
    text: `select advertiser_id as "advertiserId", name, state, billing, credit::text as credit, balance::text as balance, campaigns
     from ${source} as listed where ${matching} and ${where} ${end}`,
  };
}

const count: Statement<{ total: number }> = {
  name: "",
  text: `select count(*)::integer as total from ${source} as listed where ${matching}`,
};

/** A page of what the advertisers that match have left, and how many there are. */
export async function listAdvertiserMoney(
  {
    database,
    requireAdvertiser,
  }: { database: Database; requireAdvertiser: (id: string) => Promise<{ advertiserId: string }> },
  of: MoneyList,
): Promise<ListPage<ListedMoney> & { total: number }> {
  const after = of.after === undefined ? undefined : await requireAdvertiser(of.after);
  const filter = [findPatterns(of.find), of.state, of.empty ?? false];
  const read = await database.run(pageStatement(of.sort ?? "name"), [...filter, after?.advertiserId, of.limit + 1]);
  const [counted] = await database.run(count, filter);
  const { rows, next } = listPage(read, of.limit, ({ advertiserId }) => advertiserId);
  return {
    rows: rows.map(({ campaigns, ...row }) => ({ ...withAvailable(row), campaigns })),
    next,
    total: counted?.total ?? 0,
  };
}

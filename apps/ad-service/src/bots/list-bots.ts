import type { Bot, BotSort } from "@intermission/operator-api/bots";
import type { EndpointSort } from "@intermission/operator-api/endpoints";
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
import { requireBots, selectBots } from "./bots.ts";

export interface BotList {
  order: ListOrder;
  after?: string | undefined;
  limit: number;
  suspended?: boolean | undefined;
  trouble?: boolean | undefined;
  category?: string | undefined;
  /** Each of its words is in the name or the username, or in the id. */
  find?: string | undefined;
  sort?: BotSort | `-${BotSort}` | undefined;
}

/** The webhooks of the bot do not arrive, or an answer of its endpoint makes doubt whether they are recorded. */
export const isInTrouble = `(endpoints.state <> 'active' or endpoints.breaker <> 'closed'
     or endpoints.answer_warning is not null or endpoints.accepts_wrong_signature)`;

/** The bots that match, by `$1` to `$4`. */
const matching = `($1::boolean is null or is_suspended = $1) and (not $2::boolean or ${isInTrouble})
   and ($3::text is null or category = $3)
   and ($4::text[] = '{}' or bots.bot_id ~ all ($4)
     or normalize(concat_ws(' ', bots.name, username), nfkc) ~ all ($4))`;

const textEnds = { first: "''", last: "chr(1114111)" };
/** What lists of bots and of their endpoints are sorted by. */
export const sortsOfEndpoints: Record<EndpointSort, SortValue> = {
  name: byName("name"),
  // As the list of endpoints counts them.
  waiting: (of) => `(select count(*) from (select from deliveries
       where deliveries.bot_id = ${of}.bot_id and deliveries.state = 'waiting' limit 10001) as counted)`,
};
const sorts: Record<BotSort, SortValue> = {
  ...sortsOfEndpoints,
  username: (of, isDescending) => `lower(${nullsLast("username", textEnds)(of, isDescending)}) collate "C"`,
  category: (of, isDescending) => `${nullsLast("category", textEnds)(of, isDescending)} collate "C"`,
  state: (of) => `${of}.is_suspended`,
};

/** Unnamed: the plan depends on the filter and the order, and people run it rarely. */
function pageStatement({ order, sort }: Pick<BotList, "order" | "sort">): Statement<Bot> {
  const keys = { table: "bots", after: "$5", limit: "$6" };
  const { value, isDescending } = sortOf<BotSort>(sort ?? "name");
  const { where, end } =
    sort === undefined
      ? keysetPage(order, { ...keys, columns: ["created_at", "bot_id"] })
      : sortedPage({ value: sorts[value], isDescending }, { ...keys, id: "bot_id" });
  return { name: "", text: `${selectBots} where ${matching} and ${where} ${end}` };
}

const count: Statement<{ total: number }> = {
  name: "",
  text: `select count(*)::integer as total from bots left join endpoints on endpoints.bot_id = bots.bot_id where ${matching}`,
};

/** A page of the bots that match, and how many there are. */
export async function listBots(database: Database, of: BotList): Promise<ListPage<Bot> & { total: number }> {
  await requireBots(database, [of.after]);
  const filter = [of.suspended, of.trouble ?? false, of.category, findPatterns(of.find)];
  const read = await database.run(pageStatement(of), [...filter, of.after, of.limit + 1]);
  const [counted] = await database.run(count, filter);
  return { ...listPage(read, of.limit, ({ botId }) => botId), total: counted?.total ?? 0 };
}

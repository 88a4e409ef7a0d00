import { type Role, roles } from "@intermission/operator-api/access";
import type { PersonSort } from "@intermission/operator-api/people";
import type { Person } from "@intermission/operator-api/session";
import { findPatterns } from "@intermission/postgres/find-patterns";
import { type ListPage, listPage, type SortValue, sortedPage, sortOf } from "@intermission/postgres/keyset";
import type { Database, Statement } from "@intermission/postgres/open-database";
import { selectPerson } from "./people.ts";

export interface PeopleList {
  /** The id at which an earlier page ended. */
  after?: string | undefined;
  limit: number;
  role?: Role | undefined;
  /** Each of its words is in the address, the role, the advertiser's name or a bot's id. */
  find?: string | undefined;
  sort?: PersonSort | `-${PersonSort}` | undefined;
}

const seenBy = (of: string) => `coalesce(
     (select name from advertisers where advertisers.advertiser_id = ${of}.advertiser_id), array_to_string(${of}.bot_ids, ', '))`;

/** The filter of the list, with the parameters `$1` and `$2`. */
const matching = `($1::text is null or role = $1) and ($2::text[] = '{}'
     or normalize(concat_ws(' ', email, role, ${seenBy("people")}), nfkc) ~ all ($2))`;

const sorts: Record<PersonSort, SortValue> = {
  email: (of) => `${of}.email`,
  role: (of) => `array_position('{${roles.join(",")}}', ${of}.role)`,
  sees: (of) => `lower(${seenBy(of)}) collate "C"`,
};

/** Unnamed: the plan depends on the filter and the order, and an owner runs it rarely. */
function pageStatement(sort: PersonSort | `-${PersonSort}`): Statement<Person> {
  const { value, isDescending } = sortOf<PersonSort>(sort);
  const keys = { table: "people", id: "person_id", after: "$3", limit: "$4" };
  const { where, end } = sortedPage({ value: sorts[value], isDescending }, keys);
  return { name: "", text: `${selectPerson} where ${matching} and ${where} ${end}` };
}

const count: Statement<{ total: number }> = {
  name: "",
  text: `select count(*)::integer as total from people where ${matching}`,
};

/** A page of the matching people, and their number. The person `after` must exist. */
export async function listPeople(database: Database, of: PeopleList): Promise<ListPage<Person> & { total: number }> {
  const filter = [of.role, findPatterns(of.find)];
  const read = await database.run(pageStatement(of.sort ?? "email"), [...filter, of.after, of.limit + 1]);
  const [counted] = await database.run(count, filter);
  return { ...listPage(read, of.limit, ({ personId }) => personId), total: counted?.total ?? 0 };
}

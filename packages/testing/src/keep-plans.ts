import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type Database, knownStatements } from "@intermission/postgres/open-database";

interface Plan {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly Alias?: string;
  readonly "Index Name"?: string;
  readonly "Index Cond"?: string;
  readonly Filter?: string;
  readonly "Join Filter"?: string;
  readonly "Hash Cond"?: string;
  readonly Plans?: readonly Plan[];
}

interface Explained {
  readonly "QUERY PLAN": readonly [{ readonly Plan: Plan }];
}

interface Index {
  readonly table: string;
  readonly name: string;
  readonly columns: readonly string[];
  /** The condition of a partial index; empty for an index of all rows. */
  readonly predicate: string;
  readonly isUnique: boolean;
}

/** Loads all modules of a folder, so that their statements are known, except tests and paths that match `except`. */
export async function loadStatements(folder: string, except: RegExp): Promise<void> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const isModule = (name: string) => name.endsWith(".ts") && !name.endsWith(".test.ts") && !except.test(name);
  for (const name of names.filter(isModule)) await import(join(folder, name));
}

/**
 * Prepares all known statements and plans them, as a session does that uses each of them now. The store must have only one
 * session: `poolSize: 1`.
 *
 * @returns a function that finds wasteful look-ups in the session's cached plans, one line of text each: the condition
 * compares the first columns of an index, but the plan uses another index with fewer of its columns; or the plan reads all
 * rows despite a condition. Ignores the `small` tables, which an operator fills by hand.
 */
export async function keepPlans(
  database: Database,
  { schema, small }: { readonly schema: string; readonly small: readonly string[] },
): Promise<() => Promise<string[]>> {
  const ask = <Row>(text: string) => database.run<Row>({ name: "", text }, []);
  const indexes = await ask<Index>(`
    select relation.relname as table, index.relname as name, coalesce(pg_get_expr(indpred, indrelid), '') as predicate,
      indisunique as "isUnique",
      array(
        select coalesce(attname, '') from unnest(indkey[0:indnkeyatts - 1]) with ordinality as key (number, position)
        left join pg_attribute on attrelid = indrelid and attnum = number order by position
      )::text[] as columns
    from pg_index join pg_class as index on index.oid = indexrelid join pg_class as relation on relation.oid = indrelid
    where relation.relnamespace = '${schema}'::regnamespace`);
  const prepared = knownStatements().map(({ name, text }, number) => ({ name, text, key: `kept_${number}` }));
  for (const { key, text } of prepared) await ask(`prepare ${key} as ${text}`);

  async function planOf(key: string): Promise<Plan> {
    const [types] = await ask<{ count: number }>(
      `select cardinality(parameter_types) as count from pg_prepared_statements where name = '${key}'`,
    );
    const nulls = Array.from({ length: types?.count ?? 0 }, () => "null");
    const values = nulls.length === 0 ? "" : `(${nulls.join(", ")})`;
    const [explained] = await ask<Explained>(`explain (verbose, format json) execute ${key}${values}`);
    if (explained === undefined) throw new Error(`${key} has no plan`);
    return explained["QUERY PLAN"][0].Plan;
  }

  async function faults(): Promise<string[]> {
    const found: string[] = [];
    for (const { key, name } of prepared) {
      for (const { table, used, better } of wasteful(await planOf(key), indexes)) {
        if (!small.includes(table)) found.push(`${name}: ${table} by ${used} instead of ${better}`);
      }
    }
    return found;
  }
  await faults();
  return faults;
}

interface Wasteful {
  readonly table: string;
  readonly used: string;
  readonly better: string;
}

function wasteful(plan: Plan, indexes: readonly Index[], joins = ""): Wasteful[] {
  // The first side of a join is read in any case; the second could be looked up with the values of the first.
  const joined = `${joins} ${plan["Join Filter"] ?? ""} ${plan["Hash Cond"] ?? ""}`;
  const below = (plan.Plans ?? []).flatMap((part, side) => wasteful(part, indexes, side === 0 ? joins : joined));
  const { Alias: alias, "Relation Name": table } = plan;
  if (alias === undefined || table === undefined) return below;
  const scan = plan["Node Type"] === "Bitmap Heap Scan" ? plan.Plans?.[0] : plan;
  const index = indexes.find(({ name }) => name === scan?.["Index Name"]);
  const condition = scan?.["Index Cond"] ?? "";
  const known = comparedColumns(alias, `${condition} ${plan.Filter ?? ""} ${joins}`);
  const used = index === undefined ? 0 : beginning(index, comparedColumns(alias, condition));
  // One row at most: no other index can be better.
  if (index?.isUnique === true && used === index.columns.length) return below;
  // The first column is usually the bot, which alone selects too many rows.
  const isBetter = (other: Index, count = beginning(other, known)) =>
    count > used && (count > 1 || count === other.columns.length);
  const better = indexes.find((other) => other.table === table && other.predicate === "" && isBetter(other));
  const isOfThese = [...known].every((column) => index?.predicate.includes(column));
  if (better === undefined && (condition !== "" || isOfThese)) return below;
  return [
    ...below,
    { table, used: `${index?.name ?? "no index"} ${condition}`, better: better?.name ?? "one of its own" },
  ];
}

/** The columns that are compared for equality. A verbose plan writes the alias before each column. */
function comparedColumns(alias: string, conditions: string): Set<string> {
  const left = new RegExp(`\\b${alias}\\.(\\w+)\\)?(?:::[a-z]+)? = `, "g");
  const right = new RegExp(` = \\(?${alias}\\.(\\w+)`, "g");
  return new Set([left, right].flatMap((side) => [...conditions.matchAll(side)].map(([, column = ""]) => column)));
}

/** How many first columns of the index are known. */
function beginning({ columns }: Index, known: ReadonlySet<string>): number {
  const unknown = columns.findIndex((column) => !known.has(column));
  return unknown === -1 ? columns.length : unknown;
}

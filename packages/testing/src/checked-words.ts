import { type Database, statement } from "@intermission/postgres/open-database";

const constraints = statement<{ column: string; definition: string }>(
  "test.check-constraints",
  `select relname || '.' || attname as column, pg_get_constraintdef(pg_constraint.oid) as definition
   from pg_constraint join pg_class on pg_class.oid = conrelid
   join pg_attribute on attrelid = conrelid and array[attnum] = conkey
   where contype = 'c' and coninhcount = 0 and pg_constraint.connamespace = $1::regnamespace`,
);

/** The words, sorted, of each column that a check constraint limits to a list of words. By table and column. */
export async function checkedWords(database: Database, schema: string): Promise<Record<string, string[]>> {
  const rows = await database.run(constraints, [schema]);
  const lists = rows.flatMap(({ column, definition }) => {
    const [, list] = /ARRAY\[(.*?)\]/.exec(definition) ?? [];
    if (list === undefined) return [];
    return [[column, [...list.matchAll(/'([^']*)'/g)].map(([, word = ""]) => word).toSorted()] as const];
  });
  return Object.fromEntries(lists);
}

import { type Database, knownStatements } from "@intermission/postgres/open-database";

/**
 * Adds a column to every table of a schema, as a later version's migration does while this version serves.
 *
 * @returns the known statements that a session which has used them can no longer run, with PostgreSQL's message. The store
 * must have only one session: `poolSize: 1`.
 */
export async function findWidenedFaults(database: Database, schema: string): Promise<string[]> {
  const ask = <Row>(text: string) => database.run<Row>({ name: "", text }, []);
  const prepared = knownStatements().map(({ name, text }, number) => ({ name, text, key: `widened_${number}` }));
  for (const { key, text } of prepared) await ask(`prepare ${key} as ${text}`);
  const counts = await ask<{ key: string; count: number }>(
    "select name as key, cardinality(parameter_types) as count from pg_prepared_statements where name like 'widened_%'",
  );
  const callOf = new Map(
    counts.map(({ key, count }) => {
      const nulls = Array.from({ length: count }, () => "null").join(", ");
      return [key, `explain execute ${key}${nulls === "" ? "" : `(${nulls})`}`];
    }),
  );
  const run = async ({ key, name }: (typeof prepared)[number]) =>
    ask(callOf.get(key) ?? "").then(
      () => [],
      (error: unknown) => [`${name}: ${error instanceof Error ? error.message : error}`],
    );
  const before = (await Promise.all(prepared.map(run))).flat();
  if (before.length > 0) return before;
  const tables = await ask<{ name: string }>(
    `select oid::regclass::text as name from pg_class where relnamespace = '${schema}'::regnamespace and relkind in ('r', 'p') and not relispartition`,
  );
  for (const { name } of tables) await ask(`alter table ${name} add column of_a_later_version text`);
  return (await Promise.all(prepared.map(run))).flat();
}

import type { Database } from "@intermission/postgres/open-database";

interface Column {
  readonly table: string;
  readonly column: string;
  readonly type: string;
  readonly isNullable: boolean;
  /** The values that a check constraint allows for a text. */
  readonly choices: readonly string[];
}

/**
 * Prepares a store for generated rows, for tests of query plans. It drops all checks and foreign keys, so use the store for
 * nothing else.
 *
 * @returns a function that fills every table of `schema` with this many rows: of 20 bots, campaigns and creatives and 500
 * users; all other texts are unique, and allowed values alternate. It only inserts, so that cached plans are kept.
 */
export async function readyToFill(database: Database, schema: string): Promise<(rows: number) => Promise<void>> {
  const ask = <Row>(text: string, values: readonly unknown[] = []) => database.run<Row>({ name: "", text }, values);
  const columns = await ask<Column>(
    `select attrelid::regclass::text as table, attname as column, format_type(atttypid, null) as type,
      not attnotnull as "isNullable",
      coalesce((
        select array_agg(choice[1]) from pg_constraint
        cross join lateral regexp_matches(pg_get_constraintdef(oid), '''([^'']+)''::text', 'g') as choice
        where conrelid = attrelid and contype = 'c' and conkey = array[attnum]
          and pg_get_constraintdef(oid) like '%ANY (ARRAY[%'
      ), '{}') as choices
    from pg_attribute join pg_class on pg_class.oid = attrelid
    where relnamespace = $1::regnamespace and relkind in ('r', 'p') and not relispartition
      and relname not in ('migrations', 'commit_epochs') and attnum > 0 and not attisdropped and attidentity = '' and attgenerated = ''
    order by attrelid, attnum`,
    [schema],
  );
  const constraints = await ask<{ table: string; name: string }>(
    `select conrelid::regclass::text as table, conname as name from pg_constraint
    where connamespace = $1::regnamespace and contype in ('c', 'f') and conrelid <> 0 and coninhcount = 0`,
    [schema],
  );
  for (const { table, name } of constraints) await ask(`alter table ${table} drop constraint "${name}"`);

  return (rows) =>
    database.transaction(async (tx) => {
      const run = (text: string) => tx.run({ name: "", text }, []);
      for (const [table, ofTable] of Object.entries(Object.groupBy(columns, (column) => column.table))) {
        const own = ofTable ?? [];
        await run(`insert into ${table} (${own.map(({ column }) => `"${column}"`).join(", ")})
          select ${own.map(expressionOf).join(", ")} from generate_series(1, ${rows}) as made (n) on conflict do nothing`);
      }
    });
}

function expressionOf({ column, type, isNullable, choices }: Column): string {
  const kinds: Record<string, string> = {
    bot_id: "n % 20",
    campaign_id: "n % 20",
    creative_id: "n % 20",
    user_id: "n % 500",
  };
  if (type === "text" && choices.length > 0) {
    return `(array[${choices.map((choice) => `'${choice}'`).join(", ")}])[1 + n % ${choices.length}]`;
  }
  // Moments of the last days; nullable ones are null in every second row.
  const moment = "now() - n * interval '20 s'";
  const values: Record<string, string> = {
    text: `(${kinds[column] ?? "n"})::text`,
    boolean: "n % 2 = 0",
    bytea: "decode(md5(n::text), 'hex')",
    date: "current_date",
    json: "'{}'",
    jsonb: "'{}'",
    "timestamp with time zone": isNullable ? `case n % 2 when 0 then ${moment} end` : moment,
    xid8: "n::text::xid8",
  };
  return values[type] ?? (type.endsWith("[]") ? "'{}'" : `n::${type}`);
}

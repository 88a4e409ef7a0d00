import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { knownStatements } from "@intermission/postgres/open-database";
import pg from "pg";

/** A result column of a prepared statement. */
interface Column {
  readonly name: string;
  readonly type: string;
}

/** The result columns of statements, by the statement's name. */
type StatementColumns = ReadonlyMap<string, readonly Column[]>;

/** Prepares all known statements on a migrated database. `faults`: one line for each that cannot be prepared. */
export async function describeStatements(
  databaseUrl: string,
  schema: string,
): Promise<{ columns: StatementColumns; faults: string[] }> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(`set search_path to ${schema}`);
    const { rows } = await client.query<{ oid: number; type: string }>(
      "select oid::integer, format_type(oid, null) as type from pg_type",
    );
    const types = new Map(rows.map(({ oid, type }) => [oid, type]));
    const typeOf = (oid: number) => types.get(oid) ?? "unknown";
    const columns = new Map<string, readonly Column[]>();
    const faults: string[] = [];
    for (const { name, text } of knownStatements()) {
      const described = await describe(client, text);
      if (described instanceof Error) faults.push(`${name}: ${described.message}`);
      else
        columns.set(
          name,
          described.map((field) => ({ name: field.name, type: typeOf(field.dataTypeID) })),
        );
    }
    return { columns, faults };
  } finally {
    await client.end();
  }
}

/**
 * Compares the columns of each statement with the row type that its call of `statement<Row>` names. The database does not say
 * which columns can be null, so null is not compared, and rows that nobody reads (`never`, `unknown`) are not either.
 *
 * The compiler reads the row types, from a copy of the sources in which each `statement<Row>(name, text)` requires a type of
 * `name` that depends on the row and the columns.
 *
 * @param app the folder whose `src` holds the calls.
 * @returns one line for each statement whose row differs, or whose call was not found.
 */
export async function findRowFaults(app: string, columns: StatementColumns): Promise<string[]> {
  // In the app's folder, so that imports of packages resolve.
  const cache = join(app, "node_modules/.cache");
  mkdirSync(cache, { recursive: true });
  const copy = mkdtempSync(join(cache, "rows-"));
  try {
    cpSync(join(app, "package.json"), join(copy, "package.json"));
    cpSync(join(app, "src"), join(copy, "src"), { recursive: true, filter: (path) => !/\.test\.ts$/.test(path) });
    const calls = plantChecks(join(copy, "src"), columns);
    const missing = [...columns.keys()].filter((name) => !calls.has(name) && !ofPackages.has(name));
    const faults = missing.map((name) => `${name}: no call of statement<Row>("${name}", …) was found in ${app}/src`);
    return [...faults, ...(await compile(copy))];
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** Statements of packages/postgres, which both servers load. */
const ofPackages: ReadonlySet<string> = new Set([
  "ping",
  "commit-cursor.place",
  "database-clock.read",
  "read-replica.facts",
  "read-replica.primary",
  "audit.lock",
  "audit.insert",
  "probe.sort-on-disk",
  "probe.write",
  "store.describe",
  "store.figures",
]);

type Field = pg.FieldDef;

/** Parses a statement and asks for its result columns, without running it. */
function describe(client: pg.Client, text: string): Promise<readonly Field[] | Error> {
  return new Promise((resolve) => {
    let fields: readonly Field[] = [];
    const question = {
      submit(connection: pg.Connection) {
        connection.parse({ name: "", text, types: [] }, true);
        connection.describe({ type: "S", name: "" }, true);
        connection.sync();
      },
      handleRowDescription(message: { readonly fields: readonly Field[] }) {
        fields = message.fields;
      },
      // The driver calls nothing else after an error.
      handleError(error: Error) {
        resolve(error);
      },
      handleReadyForQuery() {
        resolve(fields);
      },
    };
    client.query(question);
  });
}

/** A call up to its name, which must stand there: quoted, or as a template. */
const CALL = /\bstatement(<[^=]*?>)?\(\s*(?:"([^"]+)"|`([^`]+)`)/g;

/** Makes each call compare its row with the columns of its statement. Returns the names that were found. */
function plantChecks(folder: string, columns: StatementColumns): Set<string> {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(folder, name));
  const sources = paths.map((path) => ({ path, source: readFileSync(path, "utf8") }));
  const namesOf = namesOfCalls(sources.map(({ source }) => source).join("\n"), columns);
  const found = new Set<string>();
  let number = 0;
  for (const { path, source } of sources) {
    const declarations: string[] = [];
    const checked = source.replaceAll(CALL, (call, _row, quoted?: string, template?: string) => {
      const names = namesOf(quoted ?? template ?? "");
      if (names.length === 0) return call;
      for (const name of names) found.add(name);
      const check = `statement${++number}`;
      const rows = names.map((name) => `[${JSON.stringify(name)}, ${rowOf(columns.get(name) ?? [])}]`);
      declarations.push(
        `declare function ${check}<Row>(name: rowCheck.Checked<Row, [${rows.join(", ")}]>, text: string): import("@intermission/postgres/open-database").Statement<Row>;`,
      );
      return call.replace("statement", check);
    });
    if (declarations.length === 0) continue;
    const types = `./${relative(dirname(path), join(folder, "row-check.ts"))}`;
    writeFileSync(path, `${checked}\nimport type * as rowCheck from "${types}";\n${declarations.join("\n")}\n`);
  }
  writeFileSync(join(folder, "row-check.ts"), rowCheck);
  return found;
}

/** Returns the names of the statements that a call makes: several for a template, of those that no other call fits better. */
function namesOfCalls(sources: string, columns: StatementColumns): (written: string) => readonly string[] {
  const calls = [...sources.matchAll(CALL)].map(([, , quoted, template]) => quoted ?? template ?? "");
  const fixed = (written: string) => written.split(/\$\{[^}]*\}/);
  const fits = (written: string, name: string) =>
    new RegExp(
      `^${fixed(written)
        .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"))
        .join(".+")}$`,
    ).test(name);
  const best = new Map<string, string[]>();
  for (const name of columns.keys()) {
    const [written] = calls
      .filter((call) => fits(call, name))
      .sort((one, other) => fixed(other).join("").length - fixed(one).join("").length);
    if (written !== undefined) best.set(written, [...(best.get(written) ?? []), name]);
  }
  return (written) => best.get(written) ?? [];
}

/** The values that pg reads for a type, as `columnTypes` of packages/postgres sets it. */
const typesOfValues: Readonly<Record<string, string>> = {
  text: "rowCheck.Text",
  "character varying": "rowCheck.Text",
  name: "rowCheck.Text",
  numeric: "rowCheck.Text",
  xid8: "rowCheck.Text",
  smallint: "number",
  integer: "number",
  bigint: "number",
  real: "number",
  "double precision": "number",
  boolean: "boolean",
  bytea: "Buffer",
  // Infinite moments are numbers.
  "timestamp with time zone": "Date | number",
  date: "Date | number",
  json: "rowCheck.Anything",
  jsonb: "rowCheck.Anything",
  void: "rowCheck.Anything",
};

function rowOf(columns: readonly Column[]): string {
  const fields = columns.map(({ name, type }) => {
    const element = typesOfValues[type.replace(/\[\]$/, "")] ?? `["unknown type", ${JSON.stringify(type)}]`;
    return `${JSON.stringify(name)}: ${type.endsWith("[]") ? `readonly (${element} | null)[]` : element}`;
  });
  return `{ ${fields.join("; ")} }`;
}

const rowCheck = `
export type Text = string;
export interface Anything { readonly anything: unique symbol }

type Values<Declared> = Exclude<Declared, null | undefined>;
type IsColumn<Declared, Column> = [Column] extends [Anything] ? true
  : [Values<Declared>] extends [Column] ? true : false;
type Wrong<Row, Columns> = {
  [Name in keyof Row & keyof Columns]: IsColumn<Row[Name], Columns[Name]> extends true ? never : Name
}[keyof Row & keyof Columns];
type FieldsOf<Row> = Row extends unknown ? keyof Row : never;
type Fault<Row, Columns> =
  | (Exclude<FieldsOf<Row>, keyof Columns> extends infer Name extends string ? \`no column \${Name}\` : never)
  | (Exclude<keyof Columns, FieldsOf<Row>> extends infer Name extends string ? \`no field for the column \${Name}\` : never)
  | (Wrong<Row, Columns> extends infer Name extends string ? \`another type of \${Name}\` : never);
/** A statement whose rows nobody reads may return any. */
type FaultOf<Row, Columns> = [Row] extends [never] ? never : unknown extends Row ? never : Fault<Row, Columns>;
type FaultsOf<Row, Statements> = Statements extends readonly [readonly [infer Name extends string, infer Columns], ...infer Rest]
  ? (FaultOf<Row, Columns> extends infer Found extends string ? \`\${Name}: \${Found}\` : never) | FaultsOf<Row, Rest> : never;
/** The type of a statement's name: a text where its row is that of its columns, else the faults. */
export type Checked<Row, Statements> = [FaultsOf<Row, Statements>] extends [never] ? string : { fault: FaultsOf<Row, Statements> };
`;

async function compile(folder: string): Promise<string[]> {
  const compilerOptions = { noEmit: true, noUnusedLocals: false, incremental: false };
  const base = join(import.meta.dirname, "../../../tsconfig.base.json");
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ extends: base, compilerOptions, include: ["src"] }));
  const tsc = join(import.meta.dirname, "../../../node_modules/.bin/tsc");
  const output = await new Promise<string>((resolve) => {
    execFile(tsc, ["-p", folder, "--pretty", "false"], { maxBuffer: 1e8 }, (_error, out, err) =>
      resolve(`${out}${err}`),
    );
  });
  return output.split("\n").filter(Boolean);
}

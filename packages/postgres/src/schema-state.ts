import { checksumOf, worksWithOf } from "./migration-sql.ts";
import { StoreFault } from "./store-faults.ts";

/** The SQL of each migration by its name, run in the order of the names: `0001-schema`, `0002-…`. */
export type Migrations = Readonly<Record<string, string>>;

/** A migration that ran. */
export interface RanMigration {
  readonly checksum: string;
  /** The oldest migration whose version works on the schema since; null if only versions that know this one do. */
  readonly worksWith: string | null;
  /** The version that ran it; of the last one, the version that has opened the store last. Null where it is not known. */
  readonly openedBy: string | null;
}

/** How the schema in a database relates to the migrations of this version. */
export type SchemaState =
  | { readonly state: "current" }
  | { readonly state: "older"; readonly missing: readonly string[] }
  /** Newer migrations ran, and all of them say that this version works on their schema. */
  | { readonly state: "ahead"; readonly unknown: readonly string[] }
  | { readonly state: "newer"; readonly unknown: readonly string[] }
  | { readonly state: "edited"; readonly name: string; readonly found: string; readonly expected: string }
  | { readonly state: "out-of-order"; readonly name: string; readonly lastRan: string };

export function schemaStateOf(ran: ReadonlyMap<string, RanMigration>, migrations: Migrations): SchemaState {
  const missing: string[] = [];
  const unknown = [...ran.keys()].filter((name) => migrations[name] === undefined).sort();
  const lastRan =
    [...ran.keys()]
      .filter((name) => !unknown.includes(name))
      .sort()
      .at(-1) ?? "";
  for (const [name, sql] of Object.entries(migrations).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const found = ran.get(name)?.checksum;
    const expected = checksumOf(sql);
    if (found !== undefined && found !== expected && unknown.length === 0)
      return { state: "edited", name, found, expected };
    if (found === undefined && name < lastRan && unknown.length === 0) return { state: "out-of-order", name, lastRan };
    if (found !== expected) missing.push(name);
  }
  if (unknown.length === 0) return missing.length === 0 ? { state: "current" } : { state: "older", missing };
  const isForThis = (name: string) => {
    const oldest = ran.get(name)?.worksWith;
    return typeof oldest === "string" && migrations[oldest] !== undefined;
  };
  return { state: missing.length === 0 && unknown.every(isForThis) ? "ahead" : "newer", unknown };
}

/** The migration that runs last: the version of the schema that a server uses. */
export function newestMigration(migrations: Migrations): string | undefined {
  return Object.keys(migrations).sort().at(-1);
}

/** The version that has opened the store last. */
export function lastOpenedBy(ran: ReadonlyMap<string, RanMigration>): string | null {
  const last = [...ran.keys()].sort().at(-1);
  return (last !== undefined && ran.get(last)?.openedBy) || null;
}

/** What is stored of a migration that ran. */
export function ranMigrationOf(sql: string): Omit<RanMigration, "openedBy"> {
  return { checksum: checksumOf(sql), worksWith: worksWithOf(sql) ?? null };
}

const otherVersion = (openedBy: string | null) =>
  `start the version that ${openedBy === null ? "made this store" : `opened this store last, ${openedBy}`}, or name another store by ` +
  "DATA_DIR or DATABASE_URL; npm run reset removes the store of a demo";

export function refusalOf(
  schema: string,
  state: Exclude<SchemaState, { state: "current" | "ahead" }>,
  { migrations, openedBy }: { readonly migrations: Migrations; readonly openedBy: string | null },
): StoreFault {
  switch (state.state) {
    case "older":
      return new StoreFault(
        `the schema "${schema}" is of an older version (${state.missing.join(", ")} did not run yet): start the server of this version once, which updates it`,
      );
    case "newer":
      return new StoreFault(
        `the schema "${schema}" is of a newer version: it has ${state.unknown.join(", ")}, and this version ends with ${newestMigration(migrations)}; ${otherVersion(openedBy)}`,
      );
    case "edited":
      return new StoreFault(
        `the migration ${state.name} of the schema "${schema}" was changed after it ran: it ran with the checksum ${state.found.slice(0, 12)}, and that of this version is ${state.expected.slice(0, 12)}; ${otherVersion(openedBy)}`,
      );
    case "out-of-order":
      return new StoreFault(
        `the migration ${state.name} of the schema "${schema}" comes too late, since ${state.lastRan} ran already: give it a number above that one; or ${otherVersion(openedBy)}`,
      );
  }
}

import { type Runner, statement } from "./database.ts";

/** The database behind a store, as its server names it. */
interface StoreDescription {
  /** Of PostgreSQL. */
  readonly postgres: string;
  /** Address and port, or "socket" for a connection on the same machine, as that of the embedded store. */
  readonly server: string;
  readonly database: string;
  /** The newest migration of the schema. */
  readonly schema: string;
}

const describe = statement<StoreDescription>(
  "store.describe",
  `select current_setting('server_version') as postgres, coalesce(host(inet_server_addr()) || ':' || inet_server_port(), 'socket') as server,
     current_database()::text as database, (select max(name) from migrations) as schema`,
);

export async function describeStore(database: Pick<Runner, "run">): Promise<StoreDescription> {
  const [found] = await database.run(describe, []);
  if (found === undefined) throw new Error("the store was not described");
  return found;
}

import type pg from "pg";
import { placeOf } from "./database-url.ts";
import { StoreFault } from "./store-faults.ts";

/**
 * Throws a `StoreFault` if the database of a server keeps texts in another encoding than UTF-8. Most refuse the first name in
 * another alphabet; SQL_ASCII takes all, counts bytes as letters, and cannot be moved to another store.
 */
export async function requireUtf8(client: pg.ClientBase, databaseUrl: string): Promise<void> {
  const { rows } = await client.query<{ encoding: string }>("select getdatabaseencoding() as encoding");
  const encoding = rows[0]?.encoding ?? "";
  if (encoding === "UTF8") return;
  throw new StoreFault(
    `the database of DATABASE_URL (${placeOf(databaseUrl)}) has the encoding ${encoding}, and texts need UTF8: ` +
      "make another one (create database … template template0 encoding 'UTF8' locale 'C'), and name it in DATABASE_URL",
  );
}

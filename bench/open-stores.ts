/**
 * Opens embedded stores as a server does, with the engine in a thread, runs statements and closes them. Prints a line for
 * each store.
 *
 *   node [V8 FLAGS…] bench/open-stores.ts OPENS AT_ONCE
 */
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../packages/postgres/src/open-database.ts";

const [opens, atOnce] = process.argv.slice(2).map(Number);
if (!opens || !atOnce) throw new Error("usage: open-stores.ts OPENS AT_ONCE");

async function openOnce(dataDirectory: string): Promise<void> {
  const startedAt = performance.now();
  const database = await openDatabase({ dataDirectory, schema: "opens", migrations: {} });
  const milliseconds = Math.round(performance.now() - startedAt);
  await database.run(
    { name: "make", text: "create table if not exists seen (id integer primary key, note text not null)" },
    [],
  );
  const put = "insert into seen values ($1, $2) on conflict (id) do update set note = excluded.note";
  for (let id = 0; id < 50; id++) await database.run({ name: "put", text: put }, [id, `note ${id}`]);
  const found = await database.run({ name: "find", text: "select id from seen where note like $1" }, ["note%"]);
  if (found.length !== 50) throw new Error(`${found.length} of 50 rows were found`);
  await database.close();
  console.log(`open ${milliseconds} ms`);
}

const folder = await mkdtemp(join(tmpdir(), "intermission-opens-"));
let left = opens;
try {
  await openOnce(join(folder, "0"));
  left -= 1;
  const slots = Array.from({ length: atOnce }, (_, slot) => join(folder, String(slot)));
  for (const slot of slots.slice(1)) await cp(join(folder, "0"), slot, { recursive: true });
  await Promise.all(
    slots.map(async (slot) => {
      while (left-- > 0) await openOnce(slot);
    }),
  );
} finally {
  await rm(folder, { recursive: true, force: true });
}

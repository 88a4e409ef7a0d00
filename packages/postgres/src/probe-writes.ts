import { type Database, ping, statement } from "./database.ts";

const sortOnDisk = statement<never>("probe.sort-on-disk", "select set_config('work_mem', '64kB', true)");

/*
 * A message in the log of the database, which its commit must write, and a sort of 400 kB that needs space on the disk: a full
 * disk may still have room in the log, while tables cannot grow. It leaves nothing behind, neither a row nor a dead one.
 */
const write = statement<never>(
  "probe.write",
  `select pg_logical_emit_message(true, 'intermission.probe', '')::text,
    (select count(*) from (select lpad(n::text, 100) from generate_series(1, 4000) as n order by 1 desc offset 0) as sorted)`,
);

/** Rejects if the store takes no writes now, with the error of PostgreSQL: 25006 (read-only), 53100 (disk full), another. */
export async function probeWrites(database: Pick<Database, "run" | "transaction" | "disk">): Promise<void> {
  await database.run(ping, []);
  await database.transaction(async (tx) => {
    await tx.run(sortOnDisk, []);
    await tx.run(write, []);
  });
  database.disk.isFull = false;
}

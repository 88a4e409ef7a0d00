import { createHash } from "node:crypto";
import { type Database, statement } from "@intermission/postgres/open-database";

/** Characters of the hash in the address: enough that no other script can be made to match. */
const HASH_LENGTH = 22;

const keep = statement<never>(
  "bots.keep-script",
  "insert into kept_scripts (hash, integrity, script) values ($1, $2, $3) on conflict do nothing",
);
const read = statement<{ script: Buffer }>("bots.read-script", "select script from kept_scripts where hash = $1");
const readLatest = statement<{ hash: string; integrity: string }>(
  "bots.read-latest-script",
  "select hash, integrity from kept_scripts order by kept_at desc, hash limit 1",
);

/** Stores the in-app script that this node serves, so that the address with its hash serves it after any update. */
export async function keepScript(database: Database, script: Buffer): Promise<void> {
  const hash = createHash("sha384").update(script).digest();
  const values = [hash.toString("base64url").slice(0, HASH_LENGTH), `sha384-${hash.toString("base64")}`, script];
  await database.run(keep, values);
}

export async function readKeptScript(database: Database, hash: string): Promise<Buffer | undefined> {
  if (hash.length !== HASH_LENGTH) return undefined;
  return (await database.run(read, [hash]))[0]?.script;
}

/** The permanent address of the latest script, and its `integrity` value; null if no script has been served. */
export async function pinnedScript(
  database: Database,
  publicUrl: string,
): Promise<{ url: string; integrity: string } | null> {
  const [latest] = await database.run(readLatest, []);
  return latest ? { url: `${publicUrl}/sdk/v1.${latest.hash}.js`, integrity: latest.integrity } : null;
}

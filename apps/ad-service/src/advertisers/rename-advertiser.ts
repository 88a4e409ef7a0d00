import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase } from "../ad-database.ts";
import { advertiserKey, findAdvertiser, spellBlocks } from "./advertiser-names.ts";

export type RenameAdvertiserOutcome =
  | { outcome: "renamed"; name: string }
  | { outcome: "unknown-advertiser" }
  | { outcome: "name-taken"; name: string };

// The lock keeps a concurrent rename from taking the same name, which the unique key would turn into an error.
const lock = statement<{ name: string }>("advertisers.lock", "select name from advertisers order by name for update");
const rename = statement<never>(
  "advertisers.rename",
  "update advertisers set name = $2, name_key = $3 where name_key = $1",
);

/** Its campaigns, its postback key and the bots that block it stay linked: references by name are updated. */
export async function renameAdvertiser(
  database: AdDatabase,
  { advertiser, name }: { advertiser: string; name: string },
): Promise<RenameAdvertiserOutcome> {
  const [from, to] = [advertiserKey(advertiser), advertiserKey(name)];
  return database.transaction(async (tx) => {
    await tx.run(lock, []);
    if ((await findAdvertiser(tx, advertiser)) === undefined) return { outcome: "unknown-advertiser" };
    const other = from === to ? undefined : await findAdvertiser(tx, name);
    if (other !== undefined) return { outcome: "name-taken", name: other };
    await tx.run(rename, [from, name, to]);
    await spellBlocks(tx, { from, to: name });
    return { outcome: "renamed", name };
  });
}

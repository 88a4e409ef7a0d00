import { createHash, randomBytes } from "node:crypto";
import type { Advertiser } from "@intermission/operator-api/advertisers";
import { type ListPage, listPage } from "@intermission/postgres/keyset";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import type { HttpError } from "@intermission/server/http-server";
import { notFound } from "@intermission/server/refuse";

/** Equal for names that differ only in case, whitespace or Unicode composition. */
export function advertiserKey(name: string): string {
  return name.normalize("NFKC").trim().replace(/\s+/g, " ").toLowerCase();
}

const insert = statement<{ name: string }>(
  "advertisers.insert",
  "insert into advertisers (name, name_key) values ($1, $2) on conflict (name_key) do nothing returning name",
);
const find = statement<{ name: string }>("advertisers.find", "select name from advertisers where name_key = $1");
const findAll = statement<{ name: string; key: string }>(
  "advertisers.find-all",
  "select name, name_key as key from advertisers where name_key = any($1)",
);
const listBlocks = statement<{ botId: string; blocked: string[] }>(
  "advertisers.list-blocks",
  `select bot_id as "botId", blocked_advertisers as blocked from bots where blocked_advertisers <> '{}'
   order by bot_id for update`,
);
const setBlocks = statement<never>(
  "advertisers.set-blocks",
  "update bots set blocked_advertisers = $2 where bot_id = $1",
);

/** The stored spelling of the advertiser's name, or undefined. */
export async function findAdvertiser(tx: Transaction, name: string): Promise<string | undefined> {
  return (await tx.run(find, [advertiserKey(name)]))[0]?.name;
}

/** Stores an advertiser with its first campaign, which sets the spelling of the name. Returns the stored spelling. */
export async function rememberAdvertiser(tx: Transaction, name: string): Promise<string> {
  const key = advertiserKey(name);
  const [added] = await tx.run(insert, [name, key]);
  if (added) await spellBlocks(tx, { from: key, to: name });
  const known = added?.name ?? (await findAdvertiser(tx, name));
  if (known === undefined) throw new Error("the advertiser disappeared while it was looked up");
  return known;
}

/**
 * Names to block, in the stored spelling of their advertisers, so that choosing an ad compares plain strings. A name without
 * an advertiser stays as it is; `spellBlocks` corrects it when that advertiser is added.
 */
export async function spellAdvertisers(tx: Transaction, names: readonly string[]): Promise<string[]> {
  const keys = names.map(advertiserKey);
  const known = new Map((await tx.run(findAll, [keys])).map(({ key, name }) => [key, name]));
  return [...new Set(names.map((name, index) => known.get(keys[index] ?? "") ?? name))];
}

/** Updates the bots that block an advertiser to its new name or spelling. */
export async function spellBlocks(tx: Transaction, { from, to }: { from: string; to: string }): Promise<void> {
  for (const { botId, blocked } of await tx.run(listBlocks, [])) {
    const spelled = [...new Set(blocked.map((name) => (advertiserKey(name) === from ? to : name)))];
    if (spelled.join("\n") !== blocked.join("\n")) await tx.run(setBlocks, [botId, spelled]);
  }
}

const campaignIdsOf = statement<{ id: string }>(
  "advertisers.campaigns",
  "select campaign_id as id from campaigns where advertiser = $1 order by campaign_id",
);

/** The ids of an advertiser's campaigns, archived ones included. An unknown name is refused with 404. */
export async function campaignsOf(database: Database, name: string): Promise<string[]> {
  const known = await findAdvertiser(database, name);
  if (known === undefined) throw unknownAdvertiser(name);
  return (await database.run(campaignIdsOf, [known])).map(({ id }) => id);
}

export function unknownAdvertiser(name: string): HttpError {
  return notFound(`there is no advertiser ${name}; see all with: advertisers list`);
}

const list = statement<Advertiser>(
  "advertisers.list",
  `select name, created_at as "createdAt", postback_key_hash is not null as "hasPostbackKey",
     (select count(*) from campaigns where advertiser = advertisers.name) as campaigns,
     (select count(*) from conversions join campaigns using (campaign_id)
      where advertiser = advertisers.name) as conversions
   from advertisers
   where ($1::text is null or name > $1) and ($3::text is null or strpos(name_key, $3) > 0)
   order by name limit $2`,
);

/** Advertisers by name, with what their postbacks have reported so far. */
export async function listAdvertisers(
  database: Database,
  of: { after?: string | undefined; limit: number; name?: string | undefined },
): Promise<ListPage<Advertiser>> {
  const part = of.name === undefined ? undefined : advertiserKey(of.name);
  return listPage(await database.run(list, [of.after, of.limit + 1, part]), of.limit, ({ name }) => name);
}

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
  database: Database,
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

/** Only the hash is stored. The key has 256 random bits, so a plain hash cannot be guessed. */
export function hashPostbackKey(key: string): Buffer {
  return createHash("sha256").update(key).digest();
}

const setPostbackKey = statement<{ name: string }>(
  "advertisers.set-postback-key",
  "update advertisers set postback_key_hash = $2 where name_key = $1 returning name",
);

/** Issues a new key for an advertiser's postbacks; the previous key becomes invalid. */
export async function issuePostbackKey(
  database: Database,
  { advertiser }: { advertiser: string },
): Promise<{ outcome: "issued"; advertiser: string; key: string } | { outcome: "unknown-advertiser" }> {
  const key = `pb_${randomBytes(32).toString("base64url")}`;
  const [updated] = await database.run(setPostbackKey, [advertiserKey(advertiser), hashPostbackKey(key)]);
  return updated ? { outcome: "issued", advertiser: updated.name, key } : { outcome: "unknown-advertiser" };
}

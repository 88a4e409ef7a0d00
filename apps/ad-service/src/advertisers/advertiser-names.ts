import { statement } from "@intermission/postgres/open-database";
import type { AdTransaction } from "../ad-database.ts";

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
export async function findAdvertiser(tx: AdTransaction, name: string): Promise<string | undefined> {
  return (await tx.run(find, [advertiserKey(name)]))[0]?.name;
}

/** Stores an advertiser with its first campaign, which sets the spelling of the name. Returns the stored spelling. */
export async function rememberAdvertiser(tx: AdTransaction, name: string): Promise<string> {
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
export async function spellAdvertisers(tx: AdTransaction, names: readonly string[]): Promise<string[]> {
  const keys = names.map(advertiserKey);
  const known = new Map((await tx.run(findAll, [keys])).map(({ key, name }) => [key, name]));
  return [...new Set(names.map((name, index) => known.get(keys[index] ?? "") ?? name))];
}

/** Updates the bots that block an advertiser to its new name or spelling. */
export async function spellBlocks(tx: AdTransaction, { from, to }: { from: string; to: string }): Promise<void> {
  for (const { botId, blocked } of await tx.run(listBlocks, [])) {
    const spelled = [...new Set(blocked.map((name) => (advertiserKey(name) === from ? to : name)))];
    if (spelled.join("\n") !== blocked.join("\n")) await tx.run(setBlocks, [botId, spelled]);
  }
}

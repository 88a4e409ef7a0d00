import { createHash, randomBytes } from "node:crypto";
import { type Advertiser, advertiserKey } from "@intermission/operator-api/advertisers";
import { type Terms, usualTerms } from "@intermission/operator-api/terms";
import { type Author, audit, changeAudited, openChange } from "@intermission/postgres/audit";
import { type ListPage, listPage } from "@intermission/postgres/keyset";
import { type Database, type Statement, statement, type Transaction } from "@intermission/postgres/open-database";
import type { HttpError } from "@intermission/server/http-server";
import { notFound } from "@intermission/server/refuse";
import bs58 from "bs58";

export interface KnownAdvertiser extends Pick<Advertiser, "advertiserId" | "name" | "state"> {}

const selectKnown = 'select advertiser_id as "advertiserId", name, state from advertisers';
const insert = statement<never>(
  "advertisers.insert",
  `insert into advertisers (advertiser_id, name, name_key, billing, credit_limit_micros)
   values ($1, $2, $3, $4, case $4 when 'prepaid' then 0 else $5::bigint end) on conflict (name_key) do nothing`,
);
// An id goes before a name that is spelled like one.
const find = statement<KnownAdvertiser>(
  "advertisers.find",
  `${selectKnown} where advertiser_id = $1 or name_key = $2 order by advertiser_id = $1 desc limit 1`,
);
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

/** By its id, or by its name in any case. */
export async function findAdvertiser(
  tx: Pick<Transaction, "run">,
  nameOrId: string,
): Promise<KnownAdvertiser | undefined> {
  return (await tx.run(find, [nameOrId, advertiserKey(nameOrId)]))[0];
}

/** Like `findAdvertiser`, but refuses an unknown one with 404. */
export async function requireAdvertiser(tx: Pick<Transaction, "run">, nameOrId: string): Promise<KnownAdvertiser> {
  const known = await findAdvertiser(tx, nameOrId);
  if (known === undefined) throw unknownAdvertiser(nameOrId);
  return known;
}

const hold = statement<never>("advertisers.hold", "select from advertisers where advertiser_id = $1 for no key update");

/** Locks the advertiser. Counts stay valid until the transaction ends if each transaction that adds to them takes this lock. */
export async function holdAdvertiser(tx: Transaction, advertiserId: string): Promise<void> {
  await tx.run(hold, [advertiserId]);
}

export function newAdvertiserId(): string {
  return `adv_${bs58.encode(randomBytes(9))}`;
}

/** The advertiser that a campaign names. A new name makes an advertiser, and sets the spelling of the name. */
export async function rememberAdvertiser(
  tx: Transaction,
  nameOrId: string,
  newOne: Pick<NewAdvertiser, "terms" | "asker" | "credit"> = { terms: usualTerms, credit: "none" },
): Promise<KnownAdvertiser> {
  const draft = { ...newOne, advertiserId: newAdvertiserId(), name: nameOrId };
  return (
    (await findAdvertiser(tx, nameOrId)) ?? (await addAdvertiser(tx, draft)) ?? (await requireAdvertiser(tx, nameOrId))
  );
}

const findTerms = statement<{ id: string }>(
  "advertisers.find-terms",
  `select advertiser_id as id from advertisers where advertiser_id = $1 and (
     billing = $2 and case billing when 'credit' then credit_limit_micros end is not distinct from $3::bigint
     or exists (select from money_requests where request_key = 'terms ' || $1 and state = 'waiting' and requested -> 'terms' = $4::jsonb))`,
);

/** Whether an advertiser has these terms, or they wait for a second person. */
export async function hasTerms(tx: Pick<Transaction, "run">, advertiserId: string, terms: Terms): Promise<boolean> {
  const { billing, creditLimitMicros } = terms;
  const values = [advertiserId, billing, creditLimitMicros, JSON.stringify({ billing, creditLimitMicros })];
  return (await tx.run(findTerms, values)).length > 0;
}

/** Decides whether the credit of a new advertiser waits for a second person. */
export interface CreditGate {
  isWithheld(tx: Transaction, terms: Terms): Promise<boolean>;
  ask(tx: Transaction, of: { advertiserId: string; terms: Terms; author: Author | undefined }): Promise<void>;
}

interface NewAdvertiser {
  advertiserId: string;
  name: string;
  terms: Terms;
  /** `none`: it is prepaid. */
  credit: CreditGate | "none";
  author?: Author | undefined;
  /** Who asks for the credit, where the advertiser is added with another object. */
  asker?: Author | undefined;
}

/** Undefined: another advertiser has this name. One whose credit needs a second person is prepaid until it is approved. */
export async function addAdvertiser(
  tx: Transaction,
  { advertiserId, name, terms, credit, author, asker = author }: NewAdvertiser,
): Promise<KnownAdvertiser | undefined> {
  const change = await openChange(tx, author, advertiserId);
  const key = advertiserKey(name);
  const isWithheld = credit !== "none" && (await credit.isWithheld(tx, terms));
  const { billing, creditLimitMicros } = credit === "none" || isWithheld ? usualTerms : terms;
  await tx.run(insert, [advertiserId, name, key, billing, creditLimitMicros]);
  const known = await findAdvertiser(tx, advertiserId);
  if (known === undefined) return undefined;
  await spellBlocks(tx, { from: key, to: name });
  await audit(tx, change);
  if (credit !== "none" && isWithheld) await credit.ask(tx, { advertiserId, terms, author: asker });
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
async function spellBlocks(tx: Transaction, { from, to }: { from: string; to: string }): Promise<void> {
  for (const { botId, blocked } of await tx.run(listBlocks, [])) {
    const spelled = [...new Set(blocked.map((name) => (advertiserKey(name) === from ? to : name)))];
    if (spelled.join("\n") !== blocked.join("\n")) await tx.run(setBlocks, [botId, spelled]);
  }
}

const campaignIdsOf = statement<{ id: string }>(
  "advertisers.campaigns",
  "select campaign_id as id from campaigns where advertiser_id = $1 order by campaign_id",
);

/** The ids of an advertiser's campaigns, archived ones included. An unknown advertiser is refused with 404. */
export async function campaignsOf(database: Database, nameOrId: string): Promise<string[]> {
  const { advertiserId } = await requireAdvertiser(database, nameOrId);
  return (await database.run(campaignIdsOf, [advertiserId])).map(({ id }) => id);
}

export function unknownAdvertiser(name: string): HttpError {
  return notFound(`there is no advertiser ${name}; see all with: advertisers list`);
}

const selectAdvertisers = `select advertiser_id as "advertiserId", name, state, created_at as "createdAt",
     postback_key_hash is not null as "hasPostbackKey",
     (select count(*) from campaigns where campaigns.advertiser_id = advertisers.advertiser_id) as campaigns,
     (select coalesce(sum(sums.conversions), 0)::bigint from campaigns cross join lateral (
        select * from stats_campaign_sums where stats_campaign_sums.campaign_id = campaigns.campaign_id and span = 'day' offset 0
      ) as sums where campaigns.advertiser_id = advertisers.advertiser_id) as conversions
   from advertisers`;
// Unnamed, since its plan depends on the filter.
const list: Statement<Advertiser> = {
  name: "",
  text: `${selectAdvertisers}
   where ($1::text is null or name_key > $1) and ($3::text is null or strpos(name_key, $3) > 0)
     and ($4::text is null or state = $4)
   order by name_key limit $2`,
};
const describe = statement<Advertiser>("advertisers.describe", `${selectAdvertisers} where advertiser_id = $1`);

export interface AdvertiserList {
  after?: string | undefined;
  limit: number;
  name?: string | undefined;
  state?: Advertiser["state"] | undefined;
}

/** Advertisers by name, with what their postbacks have reported so far. */
export async function listAdvertisers(database: Database, of: AdvertiserList): Promise<ListPage<Advertiser>> {
  const [after, part] = [of.after, of.name].map((name) => (name === undefined ? undefined : advertiserKey(name)));
  return listPage(await database.run(list, [after, of.limit + 1, part, of.state]), of.limit, ({ name }) => name);
}

export async function describeAdvertiser(tx: Pick<Transaction, "run">, advertiserId: string): Promise<Advertiser> {
  const [found] = await tx.run(describe, [advertiserId]);
  if (found === undefined) throw new Error(`the advertiser ${advertiserId} disappeared; advertisers are never deleted`);
  return found;
}

export type ChangeAdvertiserOutcome =
  | { outcome: "changed" }
  | { outcome: "changed-since" }
  | { outcome: "name-taken"; name: string };

// The lock keeps a concurrent change from taking the same name, which the unique key would turn into an error.
const lock = statement<never>("advertisers.lock", "select from advertisers order by advertiser_id for update");
const rename = statement<never>(
  "advertisers.rename",
  "update advertisers set name = $2, name_key = $3 where advertiser_id = $1",
);

/**
 * Its campaigns, its postback key and the bots that block it stay linked. With the name that the caller has seen (`expected`),
 * nothing is changed if it is another one meanwhile.
 */
export async function renameAdvertiser(
  database: Database,
  {
    advertiserId,
    name,
    expected,
    author,
  }: {
    advertiserId: string;
    name: string;
    expected?: { name: string } | undefined;
    author?: Author | undefined;
  },
): Promise<ChangeAdvertiserOutcome> {
  return database.transaction(async (tx) => {
    const change = await openChange(tx, author, advertiserId);
    await tx.run(lock, []);
    const { name: before } = await requireAdvertiser(tx, advertiserId);
    if (expected !== undefined && expected.name !== before) return { outcome: "changed-since" };
    const other = await findAdvertiser(tx, name);
    if (other !== undefined && other.advertiserId !== advertiserId) return { outcome: "name-taken", name: other.name };
    await tx.run(rename, [advertiserId, name, advertiserKey(name)]);
    await spellBlocks(tx, { from: advertiserKey(before), to: name });
    await audit(tx, change);
    return { outcome: "changed" };
  });
}

const setState = statement<{ id: string }>(
  "advertisers.set-state",
  "update advertisers set state = $2 where advertiser_id = $1 and state <> $2 returning advertiser_id as id",
);

export async function setAdvertiserState(
  database: Database,
  { advertiserId, state, author }: Pick<Advertiser, "advertiserId" | "state"> & { author?: Author | undefined },
): Promise<void> {
  const values = [advertiserId, state];
  await changeAudited(database, { objectId: advertiserId, author }, { statement: setState, values });
}

/** Only the hash is stored. The key has 256 random bits, so a plain hash cannot be guessed. */
function hashPostbackKey(key: string): Buffer {
  return createHash("sha256").update(key).digest();
}

// The hash is looked up by its index: the timing can reveal a part of the hash, but nothing about the key.
const ofKey = statement<{ advertiserId: string }>(
  "advertisers.of-postback-key",
  'select advertiser_id as "advertiserId" from advertisers where postback_key_hash = $1',
);

/** Finds the advertiser that owns a postback key; undefined if no advertiser has this key. */
export async function findAdvertiserOfKey(database: Pick<Database, "run">, key: string): Promise<string | undefined> {
  return (await database.run(ofKey, [hashPostbackKey(key)]))[0]?.advertiserId;
}

const setPostbackKey = statement<{ id: string }>(
  "advertisers.set-postback-key",
  "update advertisers set postback_key_hash = $2 where advertiser_id = $1 returning advertiser_id as id",
);

/** Issues a new key for an advertiser's postbacks; the previous key becomes invalid. */
export async function issuePostbackKey(
  database: Database,
  { advertiserId, author }: { advertiserId: string; author?: Author | undefined },
): Promise<string> {
  const key = `pb_${randomBytes(32).toString("base64url")}`;
  const values = [advertiserId, hashPostbackKey(key)];
  await changeAudited(database, { objectId: advertiserId, author }, { statement: setPostbackKey, values });
  return key;
}

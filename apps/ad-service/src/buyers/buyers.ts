import { randomBytes } from "node:crypto";
import type { Buyer, BuyerProtocol, BuyerSettings } from "@intermission/operator-api/buyers";
import { fieldFault } from "@intermission/operator-api/field-forms";
import { type Author, audit, openChange } from "@intermission/postgres/audit";
import { type ListPage, listPage } from "@intermission/postgres/keyset";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import { byColumn, type ColumnsOf, selected } from "@intermission/postgres/row-columns";
import type { HttpError } from "@intermission/server/http-server";
import { invalidField, notFound } from "@intermission/server/refuse";
import type { SecretBox } from "@intermission/server/secret-box";
import bs58 from "bs58";
import { addAdvertiser, findAdvertiser, newAdvertiserId } from "../advertisers/advertisers.ts";
import { creditGate } from "../money/credit-gate.ts";

const settingColumns = {
  protocol: "protocol",
  url: "url",
  tmaxMs: "tmax_ms",
  sends: "sends",
  tcfVendorId: "tcf_vendor_id",
  floorMicros: "floor_micros",
  blockedCategories: "blocked_categories",
  categoryTaxonomy: "category_taxonomy",
  blockedDomains: "blocked_domains",
  needsCategory: "needs_category",
  allowedRegulated: "allowed_regulated",
  firstSeenLimit: "first_seen_limit",
  reportLimit: "report_limit",
  storedRequest: "stored_request",
  adsTxt: "ads_txt",
  alwaysTests: "always_tests",
} satisfies ColumnsOf<BuyerSettings>;

const buyerColumns = {
  buyerId: "buyer_id",
  name: "(select name from advertisers where advertisers.advertiser_id = buyers.advertiser_id)",
  isActive: "is_active",
  ...settingColumns,
  hasKey: "sealed_key is not null",
  currency: "coalesce((select currency from deployment limit 1), '')",
  advertiserId: "advertiser_id",
  campaignId: "campaign_id",
  createdAt: "created_at",
} satisfies ColumnsOf<Buyer>;

const selectBuyers = `select ${selected(buyerColumns)} from buyers`;
const find = statement<Buyer>("demand.find-buyer", `${selectBuyers} where buyer_id = $1`);
const list = statement<Buyer>(
  "demand.list-buyers",
  `${selectBuyers} where $1::text is null or buyer_id > $1 order by buyer_id limit $2`,
);

/** Refuses an unknown one with 404. */
export async function requireBuyer(database: Pick<Database, "run">, buyerId: string): Promise<Buyer> {
  const [buyer] = await database.run(find, [buyerId]);
  if (buyer === undefined) throw unknownBuyer(buyerId);
  return buyer;
}

export async function listBuyers(
  database: Pick<Database, "run">,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<ListPage<Buyer>> {
  return listPage(await database.run(list, [after, limit + 1]), limit, ({ buyerId }) => buyerId);
}

function unknownBuyer(buyerId: string): HttpError {
  return notFound(`there is no buyer ${buyerId}; see all with: buyers list`);
}

// A change of the currency waits for the end of the transaction.
const lockCurrency = statement<{ currency: string }>(
  "demand.lock-currency",
  "select currency from deployment for share",
);

/**
 * Refuses with 400 a feed whose prices name no currency and are in dollars, where amounts are in another: all of its bids would be
 * refused, after viewers' addresses were sent for them. No currency is stored before the first start.
 */
async function requireCurrencyOf(tx: Transaction, protocol: BuyerProtocol): Promise<void> {
  if (protocol === "openrtb") return;
  const [deployment] = await tx.run(lockCurrency, []);
  if (deployment === undefined || deployment.currency === "USD") return;
  const { currency } = deployment;
  const message = `cannot be ${protocol} here: its bids are in USD, and the amounts of this deployment in ${currency}; use openrtb`;
  throw invalidField("protocol", message, fieldFault("FEED_IN_USD", { currency }));
}

const insert = statement<never>(
  "demand.insert-buyer",
  `with video as (
    insert into creatives (creative_id, name, kind, url, advertiser_id, created_at)
    values ($5, $2, 'vast', $6::jsonb ->> 'url', $3, $9)
  ),
  -- Without a plan of the day: what is offered is taken.
  campaign as (
    insert into campaigns (campaign_id, name, advertiser_id, formats, pacing, created_at, updated_at)
    values ($4, $2, $3, '{rewarded,interstitial}', 'asap', $9, $9)
  ),
  attached as (insert into campaign_creatives (campaign_id, creative_id) values ($4, $5))
  insert into buyers (buyer_id, advertiser_id, campaign_id, creative_id, sealed_key, user_key, created_at,
    ${Object.values(settingColumns).join(", ")})
  select $1, $3, $4, $5, $7, $8, $9, ${Object.values(settingColumns).join(", ")}
  from jsonb_populate_record(null::buyers, $6::jsonb)`,
);

export interface NewBuyer extends BuyerSettings {
  name: string;
  key: string | null;
}

/** Adds a buyer with an advertiser, a campaign and a creative of its own; off. Undefined: an advertiser has this name. Refuses as `updateBuyer`. */
export async function addBuyer(
  { database, secretBox }: { database: Database; secretBox: SecretBox },
  { name, key, author, now, ...settings }: NewBuyer & { author?: Author | undefined; now: Date },
): Promise<Buyer | undefined> {
  const random = () => bs58.encode(randomBytes(9));
  const buyerId = `buy_${random()}`;
  return database.transaction(async (tx) => {
    const change = await openChange(tx, author, buyerId);
    await requireCurrencyOf(tx, settings.protocol);
    if ((await findAdvertiser(tx, name)) !== undefined) return undefined;
    // A buyer pays afterwards, by the month.
    const terms = { billing: "credit" as const, creditLimitMicros: null };
    const advertiser = await addAdvertiser(tx, {
      advertiserId: newAdvertiserId(),
      name,
      terms,
      credit: creditGate,
      asker: author,
    });
    if (advertiser === undefined) return undefined;
    const ids = [buyerId, name, advertiser.advertiserId, `cmp_${random()}`, `cre_${randomBytes(12).toString("hex")}`];
    const sealed = key === null ? null : secretBox.seal(key, buyerId);
    const columns = JSON.stringify(byColumn(settingColumns, settings));
    await tx.run(insert, [...ids, columns, sealed, randomBytes(32), now]);
    await audit(tx, change);
    return requireBuyer(tx, buyerId);
  });
}

const lock = statement<{ url: string; protocol: BuyerProtocol; hasKey: boolean }>(
  "demand.lock-buyer",
  `select url, protocol, sealed_key is not null as "hasKey" from buyers where buyer_id = $1 for update`,
);

const update = statement<never>(
  "demand.update-buyer",
  `with changed as (
    update buyers set (is_active, sealed_key, ${Object.values(settingColumns).join(", ")}) = (
      select coalesce($3::boolean, buyers.is_active), case when $4::boolean then $5::bytea else buyers.sealed_key end,
        ${Object.values(settingColumns)
          .map((column) => `merged.${column}`)
          .join(", ")}
      from jsonb_populate_record(buyers, $2::jsonb) as merged
    )
    where buyer_id = $1 returning creative_id, url
  )
  update creatives set url = changed.url from changed where creatives.creative_id = changed.creative_id`,
);

/** What a change does not name stays. `key`: null removes it. */
export type BuyerChange = Partial<BuyerSettings> & { isActive?: boolean | undefined; key?: string | null | undefined };

/**
 * A key is for the server that the operator entered it for: if the address moves to another origin and the change brings no key,
 * the stored one is removed in the same transaction. Refuses an unknown buyer with 404, and with 400 a protocol that cannot be bought by in the deployment's currency.
 */
export async function updateBuyer(
  { database, secretBox }: { database: Database; secretBox: SecretBox },
  { buyerId, author, change }: { buyerId: string; author?: Author | undefined; change: BuyerChange },
): Promise<Buyer & { isKeyRemoved: boolean }> {
  const { isActive, key, ...settings } = change;
  const named = Object.entries(settings).filter(([, value]) => value !== undefined);
  const columns: Readonly<Record<string, string>> = settingColumns;
  const merged = JSON.stringify(Object.fromEntries(named.map(([field, value]) => [columns[field], value])));
  const sealed = key === null || key === undefined ? null : secretBox.seal(key, buyerId);
  return database.transaction(async (tx) => {
    const opened = await openChange(tx, author, buyerId);
    const [before] = await tx.run(lock, [buyerId]);
    if (before === undefined) throw unknownBuyer(buyerId);
    // One that is there already can be turned off.
    if (isActive === true || change.protocol !== undefined)
      await requireCurrencyOf(tx, change.protocol ?? before.protocol);
    const isElsewhere = change.url !== undefined && new URL(change.url).origin !== new URL(before.url).origin;
    const isKeyRemoved = key === undefined && before.hasKey && isElsewhere;
    await tx.run(update, [buyerId, merged, isActive, key !== undefined || isKeyRemoved, sealed]);
    await audit(tx, opened);
    return { ...(await requireBuyer(tx, buyerId)), isKeyRemoved };
  });
}

/** A buyer, with what its requests need beside its settings. */
export interface RequestedBuyer extends BuyerSettings {
  buyerId: string;
  campaignId: string;
  creativeId: string;
  userKey: Buffer;
  sealedKey: Buffer | null;
  /** Of its interstitials, a setting of its campaign. */
  skipAfterSeconds: number;
  /** Whether it is on, and neither its campaign nor its advertiser is stopped. */
  isOffered: boolean;
}

const requestedColumns = {
  ...settingColumns,
  buyerId: "buyer_id",
  campaignId: "campaign_id",
  creativeId: "creative_id",
  userKey: "user_key",
  sealedKey: "sealed_key",
  skipAfterSeconds: "(select skip_after_seconds from campaigns where campaigns.campaign_id = buyers.campaign_id)",
  isOffered: `is_active and (select status = 'active' and state = 'active' from campaigns join advertisers using (advertiser_id)
    where campaigns.campaign_id = buyers.campaign_id)`,
} satisfies ColumnsOf<RequestedBuyer>;

const readAll = statement<RequestedBuyer>(
  "demand.read-buyers",
  `select ${selected(requestedColumns)} from buyers order by buyer_id`,
);

/** All buyers, for the choice of ads in memory. */
export function readBuyers(database: Pick<Transaction, "run">): Promise<RequestedBuyer[]> {
  return database.run(readAll, []);
}

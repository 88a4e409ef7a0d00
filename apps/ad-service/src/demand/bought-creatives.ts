import { hash } from "node:crypto";
import type { BoughtReviewState } from "@intermission/operator-api/creative-words";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import { storableText } from "@intermission/postgres/storable-text";
import type { VastAd } from "../vast/vast-ad.ts";
import type { SentBid } from "./openrtb/read-bid-response.ts";

/** What a bid shows, as far as a review is about it. */
interface SeenCreative {
  boughtCreativeId: string;
  /** Host and path, since queries differ with each request. */
  media: string;
  /** Null: the ad leads nowhere. */
  landingHost: string | null;
}

/**
 * The same creative has the same id: by the buyer's seat and `crid`, else by the advertiser's domains and the file. What it shows
 * and where it leads are watched apart, so that one id cannot stand for another ad after its review.
 */
export function seenCreative(
  buyerId: string,
  bid: SentBid,
  ad: Pick<VastAd, "mediaUrl" | "clickThrough">,
): SeenCreative {
  const { host, pathname } = new URL(ad.mediaUrl);
  const media = storableText(`${host}${pathname}`, MAX_TEXT);
  const own = bid.creativeId ?? [...bid.domains.map((domain) => domain.toLowerCase()).toSorted(), media].join(" ");
  const named = [buyerId, bid.seat ?? "", bid.creativeId === undefined ? "file" : "crid", own];
  const boughtCreativeId = `bcr_${hash("sha256", JSON.stringify(named)).slice(0, 32)}`;
  return { boughtCreativeId, media, landingHost: ad.clickThrough === null ? null : new URL(ad.clickThrough).hostname };
}

/** What is known of it. */
interface KnownCreative {
  review: BoughtReviewState;
  offered: number;
  isKnown: boolean;
}

type CreativeVerdict =
  | "approved"
  /** It counts against the limit. */
  | "first-seen"
  /** The limit is reached, or too many others of its buyer wait. */
  | "unreviewed"
  /** A person has refused it, or viewers have reported it. */
  | "disapproved";

/** Undefined: it is not stored, since too many others wait. */
function judgeCreative(known: Omit<KnownCreative, "isKnown"> | undefined, limit: number): CreativeVerdict {
  if (known === undefined) return "unreviewed";
  switch (known.review) {
    case "approved":
      return "approved";
    case "refused":
    case "reported":
      return "disapproved";
    case "waiting":
      return known.offered < limit ? "first-seen" : "unreviewed";
    default:
      return known.review satisfies never;
  }
}

const MAX_TEXT = 512;
/** Files and hosts of one creative; of more, the oldest are forgotten. */
const MAX_SEEN = 20;
/** Of one buyer: what is new beyond these is not shown, so that new ids are no way around the limit. */
const MAX_WAITING = 200;

const read = statement<KnownCreative>(
  "demand.read-bought-creative",
  `select review, offered, media @> array[$2::text] and ($3::text is null or landing_hosts @> array[$3::text]) as "isKnown"
   from bought_creatives where bought_creative_id = $1`,
);

/** SQL: a list with a value behind its others, once, and no longer than what is kept. */
const withSeen = (column: string) =>
  `case when bought_creatives.${column} @> excluded.${column} then bought_creatives.${column}
      else (bought_creatives.${column} || excluded.${column})[greatest(1, cardinality(bought_creatives.${column}) + 2 - ${MAX_SEEN}):] end`;

// What was approved with other files or hosts waits again. What was refused stays so.
const store = statement<{ review: BoughtReviewState; offered: number }>(
  "demand.store-bought-creative",
  `insert into bought_creatives (bought_creative_id, buyer_id, seat, crid, domains, categories, advertiser, title, media_url, media_type,
     width, height, duration_ms, landing_url, media, landing_hosts, first_seen_at, last_seen_at)
   select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, array[$15::text], array_remove(array[$16::text], null), $17, $17
   where exists (select from bought_creatives where bought_creative_id = $1) or (
     select count(*) from (
       select from bought_creatives where buyer_id = $2 and review = 'waiting' and last_seen_at > $17::timestamptz - interval '14 days' limit ${MAX_WAITING}
     ) as others) < ${MAX_WAITING}
   on conflict (bought_creative_id) do update set
     media = ${withSeen("media")}, landing_hosts = ${withSeen("landing_hosts")},
     domains = excluded.domains, categories = excluded.categories, advertiser = excluded.advertiser, title = excluded.title,
     media_url = excluded.media_url, media_type = excluded.media_type, width = excluded.width, height = excluded.height,
     duration_ms = excluded.duration_ms, landing_url = excluded.landing_url, last_seen_at = excluded.last_seen_at,
     revision = bought_creatives.revision + 1,
     review = case bought_creatives.review when 'approved' then 'waiting' else bought_creatives.review end,
     offered = case bought_creatives.review when 'approved' then 0 else bought_creatives.offered end
   where not (bought_creatives.media @> excluded.media and bought_creatives.landing_hosts @> excluded.landing_hosts)
   returning review, offered`,
);

/** Stores what is new of a creative that could be shown, and judges it. What an opening may show is decided by `admitCreative`. */
export async function meetCreative(
  database: Pick<Database, "run">,
  seen: SeenCreative,
  {
    buyerId,
    firstSeenLimit,
    bid,
    ad,
    now,
  }: { buyerId: string; firstSeenLimit: number; bid: SentBid; ad: VastAd; now: Date },
): Promise<CreativeVerdict> {
  const { boughtCreativeId, media, landingHost } = seen;
  const [known] = await database.run(read, [boughtCreativeId, media, landingHost]);
  if (known?.isKnown) return judgeCreative(known, firstSeenLimit);
  const text = (value: string | null | undefined) => (value ? storableText(value, MAX_TEXT) : null);
  const list = (values: readonly string[]) => values.slice(0, 20).map((value) => storableText(value, 128));
  const [stored] = await database.run(store, [
    boughtCreativeId,
    buyerId,
    text(bid.seat),
    text(bid.creativeId),
    list(bid.domains),
    list(bid.categories),
    text(ad.advertiser),
    text(ad.title),
    ad.mediaUrl,
    ad.mediaType,
    ad.width,
    ad.height,
    ad.durationMs,
    ad.clickThrough,
    media,
    landingHost,
    now,
  ]);
  if (stored !== undefined) return judgeCreative(stored, firstSeenLimit);
  // Another opening has stored the same meanwhile, or too many wait.
  const [other] = await database.run(read, [boughtCreativeId, media, landingHost]);
  return judgeCreative(other, firstSeenLimit);
}

const admit = statement<{ isAdmitted: boolean }>(
  "demand.admit-bought-creative",
  `with counted as (
     update bought_creatives set offered = offered + 1, last_seen_at = greatest(last_seen_at, $2)
     where bought_creative_id = $1 and review = 'waiting'
       and offered < (select first_seen_limit from buyers where buyers.buyer_id = bought_creatives.buyer_id)
     returning 1
   )
   select exists (select from counted)
     or exists (select from bought_creatives where bought_creative_id = $1 and review = 'approved') as "isAdmitted"`,
);
const takeBack = statement<never>(
  "demand.take-back-bought-creative",
  "update bought_creatives set offered = offered - 1 where bought_creative_id = $1 and review = 'waiting' and offered > 0",
);

/** Whether a view may begin with it; counts one that waits. Call it in the transaction that begins the view. */
export async function admitCreative(tx: Transaction, boughtCreativeId: string, now: Date): Promise<boolean> {
  return (await tx.run(admit, [boughtCreativeId, now]))[0]?.isAdmitted === true;
}

/** The view did not begin after all. */
export async function takeBackCreative(tx: Transaction, boughtCreativeId: string): Promise<void> {
  await tx.run(takeBack, [boughtCreativeId]);
}

/** An offer that was not started is withdrawn once its creative is refused or reported. */
export async function isDisapproved(database: Pick<Database, "run">, boughtCreativeId: string): Promise<boolean> {
  const [known] = await database.run(read, [boughtCreativeId, "", null]);
  return known !== undefined && judgeCreative(known, Number.POSITIVE_INFINITY) === "disapproved";
}

// The same viewer reports once between two reviews.
const report = statement<{ id: string }>(
  "demand.report-bought-creative",
  `with reported as (
     insert into bought_creative_reports (bought_creative_id, bot_id, user_id, reported_at) values ($1, $2, $3, $4)
     on conflict do nothing returning bought_creative_id
   )
   update bought_creatives set reports = reports + 1, review = case
       when review = 'waiting' then 'reported'
       when review = 'approved' and reports + 1 >= (select report_limit from buyers where buyers.buyer_id = bought_creatives.buyer_id)
         then 'reported'
       else review end
   where bought_creative_id in (select bought_creative_id from reported) returning bought_creative_id as id`,
);

/** Counts a viewer's report, which may pause the creative: from its commit on, no node offers it. False: the viewer has reported it already. */
export async function reportCreative(
  tx: Pick<Transaction, "run">,
  { boughtCreativeId, botId, userId, now }: { boughtCreativeId: string; botId: string; userId: string; now: Date },
): Promise<boolean> {
  return (await tx.run(report, [boughtCreativeId, botId, userId, now])).length > 0;
}

import { hash } from "node:crypto";
import { type BoughtReviewState, CARD_TYPE } from "@intermission/operator-api/creative-words";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import { storableText } from "@intermission/postgres/storable-text";
import type { VastAd } from "../vast/vast-ad.ts";
import type { SentBid } from "./openrtb/read-bid-response.ts";
import type { Card } from "./read-card.ts";

/** The parts of a bid's ad that a review covers. */
interface SeenCreative {
  boughtCreativeId: string;
  /** A hash of what it shows: of the file's address without the parameters of caches and signatures. */
  media: string;
  /** The advertiser's domains. */
  domains: readonly string[];
  /** Null: the ad has no landing page. */
  landingHost: string | null;
}

/** What a person reviews of a bought ad. */
type ReviewedAd = Pick<
  VastAd,
  "advertiser" | "title" | "mediaUrl" | "mediaType" | "width" | "height" | "durationMs" | "clickThrough"
>;

export function seenCreative(
  buyerId: string,
  bid: SentBid,
  { mediaUrl, clickThrough }: Pick<VastAd, "mediaUrl" | "clickThrough">,
): SeenCreative {
  return creativeOf(buyerId, bid, { shown: fileAddress(mediaUrl), landingUrl: clickThrough });
}

/** Of a card all that is read counts as its file: another text is another ad. */
export function seenCard(buyerId: string, bid: SentBid, { title, text, button, file, link }: Card): SeenCreative {
  const shown = JSON.stringify([file === null ? null : fileAddress(file), title, text, button]);
  return creativeOf(buyerId, bid, { shown, landingUrl: link });
}

/** A card as a person reviews it. */
export function reviewedCard({ title, text, imageUrl, advertiser, link }: Card): ReviewedAd {
  const texts = [title, text].filter((one) => one !== null).join(": ");
  const size = { width: 0, height: 0, durationMs: 0 };
  return { advertiser, title: texts, mediaUrl: imageUrl ?? link, mediaType: CARD_TYPE, ...size, clickThrough: link };
}

/**
 * The same creative has the same id: by the buyer's seat and `crid`, else by the advertiser's domains and the file. What it shows,
 * for whom, and where it leads are watched apart, so that one id cannot stand for another ad after its review.
 */
function creativeOf(
  buyerId: string,
  bid: SentBid,
  { shown, landingUrl }: { shown: string; landingUrl: string | null },
): SeenCreative {
  const media = hash("sha256", shown);
  const domains = [...new Set(bid.domains.map((domain) => storableText(domain.toLowerCase(), MAX_DOMAIN)))].toSorted();
  const own = bid.creativeId ?? [...domains, media].join(" ");
  const named = [buyerId, bid.seat ?? "", bid.creativeId === undefined ? "file" : "crid", own];
  const boughtCreativeId = `bcr_${hash("sha256", JSON.stringify(named)).slice(0, 32)}`;
  const landingHost = landingUrl === null ? null : new URL(landingUrl).hostname;
  return { boughtCreativeId, media, domains, landingHost };
}

/** Parameters that differ in each request for the same file: of caches, and of signed addresses of Amazon and Google. */
const passingParameter =
  /^(?:cb|cachebuster|cachebusting|correlator|ord|random|rnd|timestamp|expires|key-pair-id|policy|signature|x-amz-[a-z-]+|x-goog-[a-z-]+)(?:=|$)/i;

function fileAddress(address: string): string {
  const url = new URL(address);
  url.hash = "";
  url.search = url.search
    .slice(1)
    .split("&")
    .filter((parameter) => !passingParameter.test(parameter))
    .join("&");
  return url.href;
}

/** The stored state of a creative. */
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

/** `known` is undefined if the creative is not stored, since too many others wait. */
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
const MAX_DOMAIN = 253;
/** The latest files, hosts and domains of one creative; older ones are removed. A bid has at most 100 domains. */
const maxSeen = { media: 20, landing_hosts: 20, domains: 200 };
/** Waiting creatives of one buyer. Further new creatives are not shown, so that new ids cannot bypass the limit. */
const MAX_WAITING = 200;

const read = statement<KnownCreative>(
  "demand.read-bought-creative",
  `select review, offered, media @> array[$2::text] and ($3::text is null or landing_hosts @> array[$3::text])
     and domains @> $4::text[] as "isKnown"
   from bought_creatives where bought_creative_id = $1`,
);

/** SQL: appends the new values to a list without duplicates, and keeps the last ones up to the limit. */
const withSeen = (column: keyof typeof maxSeen) =>
  `case when bought_creatives.${column} @> excluded.${column} then bought_creatives.${column}
      else (array(
          select one from unnest(bought_creatives.${column}) with ordinality as seen (one, place) where one <> all (excluded.${column}) order by place
        ) || excluded.${column})[greatest(1, cardinality(bought_creatives.${column}) + cardinality(excluded.${column}) + 1 - ${maxSeen[column]}):] end`;

// Only one ad request of a buyer counts its waiting creatives at a time.
const lockBuyer = statement<never>(
  "demand.lock-buyer-queue",
  "select from buyers where buyer_id = $1 for no key update",
);

/** SQL: how many of a buyer wait, counted up to the limit. */
const waitingOf = (buyerId: string, now: string) => `(select count(*)::integer from (
    select from bought_creatives where buyer_id = ${buyerId} and review in ('waiting', 'reported')
      and last_seen_at > ${now}::timestamptz - interval '14 days' limit ${MAX_WAITING}
  ) as others)`;

const count = statement<{ waiting: number }>("demand.count-waiting", `select ${waitingOf("$1", "$2")} as waiting`);

// What was approved with other files, hosts or domains waits again. What was refused stays so.
const store = statement<{ review: BoughtReviewState; offered: number }>(
  "demand.store-bought-creative",
  `insert into bought_creatives (bought_creative_id, buyer_id, seat, crid, domains, categories, advertiser, title, media_url, media_type,
     width, height, duration_ms, landing_url, media, landing_hosts, first_seen_at, last_seen_at)
   select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, array[$15::text], array_remove(array[$16::text], null), $17, $17
   where exists (select from bought_creatives where bought_creative_id = $1) or ${waitingOf("$2", "$17")} < ${MAX_WAITING}
   on conflict (bought_creative_id) do update set
     media = ${withSeen("media")}, landing_hosts = ${withSeen("landing_hosts")},
     domains = ${withSeen("domains")}, categories = excluded.categories, advertiser = excluded.advertiser, title = excluded.title,
     media_url = excluded.media_url, media_type = excluded.media_type, width = excluded.width, height = excluded.height,
     duration_ms = excluded.duration_ms, landing_url = excluded.landing_url, last_seen_at = excluded.last_seen_at,
     revision = bought_creatives.revision + 1,
     review = case bought_creatives.review when 'approved' then 'waiting' else bought_creatives.review end,
     offered = case bought_creatives.review when 'approved' then 0 else bought_creatives.offered end
   where not (bought_creatives.media @> excluded.media and bought_creatives.landing_hosts @> excluded.landing_hosts
     and bought_creatives.domains @> excluded.domains)
   returning review, offered`,
);

/** Stores the new values of a creative, and judges it. `admitCreative` decides whether a view may show it. */
export async function meetCreative(
  database: Pick<Database, "run" | "transaction">,
  seen: SeenCreative,
  {
    buyerId,
    firstSeenLimit,
    bid,
    ad,
    now,
  }: { buyerId: string; firstSeenLimit: number; bid: SentBid; ad: ReviewedAd; now: Date },
): Promise<CreativeVerdict> {
  const { boughtCreativeId, media, domains, landingHost } = seen;
  const readSeen = () => database.run(read, [boughtCreativeId, media, landingHost, domains]);
  const [known] = await readSeen();
  if (known?.isKnown) return judgeCreative(known, firstSeenLimit);
  // A new one that a full queue refuses takes no lock, which other openings would wait for.
  const isFull = async () => (await database.run(count, [buyerId, now]))[0]?.waiting === MAX_WAITING;
  if (known === undefined && (await isFull())) return judgeCreative(undefined, firstSeenLimit);
  const text = (value: string | null | undefined) => (value ? storableText(value, MAX_TEXT) : null);
  const categories = bid.categories.slice(0, 20).map((category) => storableText(category, 128));
  const values = [
    boughtCreativeId,
    buyerId,
    text(bid.seat),
    text(bid.creativeId),
    domains,
    categories,
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
  ];
  const [stored] = await database.transaction(async (tx) => {
    await tx.run(lockBuyer, [buyerId]);
    return tx.run(store, values);
  });
  if (stored !== undefined) return judgeCreative(stored, firstSeenLimit);
  // Another ad request has stored the creative meanwhile, or too many creatives wait.
  const [other] = await readSeen();
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

/** Whether a view may begin with the creative; counts a waiting one. Call it in the transaction that begins the view. */
export async function admitCreative(tx: Transaction, boughtCreativeId: string, now: Date): Promise<boolean> {
  return (await tx.run(admit, [boughtCreativeId, now]))[0]?.isAdmitted === true;
}

/** Reverts the count of `admitCreative` for a view that did not begin. */
export async function takeBackCreative(tx: Transaction, boughtCreativeId: string): Promise<void> {
  await tx.run(takeBack, [boughtCreativeId]);
}

/** Whether offers of the creative that have not started are withdrawn: it was refused or reported. */
export async function isDisapproved(database: Pick<Database, "run">, boughtCreativeId: string): Promise<boolean> {
  const [known] = await database.run(read, [boughtCreativeId, "", null, []]);
  return known !== undefined && judgeCreative(known, Number.POSITIVE_INFINITY) === "disapproved";
}

// A viewer reports a creative once between two reviews.
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

/** Counts a viewer's report. Once it has paused the creative, no node offers it. False: the viewer reported it before. */
export async function reportCreative(
  tx: Pick<Transaction, "run">,
  { boughtCreativeId, botId, userId, now }: { boughtCreativeId: string; botId: string; userId: string; now: Date },
): Promise<boolean> {
  return (await tx.run(report, [boughtCreativeId, botId, userId, now])).length > 0;
}

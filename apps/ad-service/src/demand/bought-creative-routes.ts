import { type BoughtCreative, boughtCreativeRoutes } from "@intermission/operator-api/bought-creatives";
import type { BoughtReviewState } from "@intermission/operator-api/creative-words";
import { type Author, audit, openChange } from "@intermission/postgres/audit";
import { listPage } from "@intermission/postgres/keyset";
import { type Database, statement } from "@intermission/postgres/open-database";
import { type ColumnsOf, selected } from "@intermission/postgres/row-columns";
import { authorOf } from "@intermission/server/author-of";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { conflict, notFound } from "@intermission/server/refuse";
import { serveOperatorRoutes } from "@intermission/server/serve-operator-routes";

const columns = {
  boughtCreativeId: "bought_creative_id",
  buyerId: "buyer_id",
  buyer:
    "(select name from buyers join advertisers using (advertiser_id) where buyers.buyer_id = bought_creatives.buyer_id)",
  seat: "seat",
  creativeId: "crid",
  domains: "domains",
  categories: "categories",
  advertiser: "advertiser",
  title: "title",
  mediaUrl: "media_url",
  mediaType: "media_type",
  width: "width",
  height: "height",
  durationMs: "duration_ms",
  landingUrl: "landing_url",
  landingHosts: "landing_hosts",
  review: "review",
  reviewReason: "review_reason",
  revision: "revision",
  offered: "offered",
  firstSeenLimit: "(select first_seen_limit from buyers where buyers.buyer_id = bought_creatives.buyer_id)",
  reports: "reports",
  firstSeenAt: "first_seen_at",
  lastSeenAt: "last_seen_at",
  reviewedAt: "reviewed_at",
} satisfies ColumnsOf<BoughtCreative>;

const select = `select ${selected(columns)} from bought_creatives`;
const find = statement<BoughtCreative>("demand.find-bought-creative", `${select} where bought_creative_id = $1`);

const inQueue = "review in ('waiting', 'reported')";
const list = {
  // Unnamed, since people run it rarely, and its best index depends on the filter.
  name: "",
  text: `${select}
   where ($1::text is null or buyer_id = $1)
     and case $2::text when 'queue' then ${inQueue} else review = coalesce($2, review) end
     and ($3::text is null or (first_seen_at, bought_creative_id) >
       (select first_seen_at, bought_creative_id from bought_creatives where bought_creative_id = $3))
   order by first_seen_at, bought_creative_id limit $4`,
};
const count = statement<{ waiting: number }>(
  "demand.count-bought-creatives",
  `select count(*)::integer as waiting from bought_creatives where ${inQueue}`,
);

const decide = statement<never>(
  "demand.review-bought-creative",
  `with forgotten as (delete from bought_creative_reports where bought_creative_id = $1)
   update bought_creatives set review = $2, review_reason = $3, reviewed_at = $4, reports = 0, offered = 0
   where bought_creative_id = $1`,
);

interface Decision {
  boughtCreativeId: string;
  revision: number;
  review: BoughtReviewState;
  reason: string | null;
  author: Author | undefined;
  now: Date;
}

/** Stores a decision about the revision that the reviewer saw. */
async function review(database: Database, decision: Decision): Promise<BoughtCreative> {
  const { boughtCreativeId, revision, author, now } = decision;
  return database.transaction(async (tx) => {
    const change = await openChange(tx, author, boughtCreativeId);
    await tx.run(lock, [boughtCreativeId]);
    const [found] = await tx.run(find, [boughtCreativeId]);
    if (found === undefined)
      throw notFound(`there is no bought creative ${boughtCreativeId}; see all with: buyers creatives`);
    if (found.revision !== revision)
      throw conflict(
        "CREATIVE_CHANGED",
        `it has changed since: look at revision ${found.revision}, and decide about that`,
        { revision: String(found.revision) },
      );
    await tx.run(decide, [
      boughtCreativeId,
      decision.review,
      decision.reason,
      decision.review === "waiting" ? null : now,
    ]);
    await audit(tx, change);
    return { ...found, ...(await tx.run(find, [boughtCreativeId]))[0] };
  });
}

// An ad request that brings a new file, host or domain of the creative waits for this lock.
const lock = statement<never>(
  "demand.lock-bought-creative",
  "select from bought_creatives where bought_creative_id = $1 for update",
);

/** Routes that review buyers' creatives. */
export function boughtCreativeOperatorRoutes(
  scope: CheckedScope,
  { database, now }: { database: Database; now: () => Date },
): void {
  serveOperatorRoutes(scope, boughtCreativeRoutes, {
    async listBoughtCreatives({ query: { buyerId, review: state, after, limit } }) {
      const rows = await database.run<BoughtCreative>(list, [buyerId, state, after, limit + 1]);
      const { rows: creatives, next } = listPage(rows, limit, ({ boughtCreativeId }) => boughtCreativeId);
      const [counted] = await database.run(count, []);
      return { waiting: counted?.waiting ?? 0, creatives, next };
    },

    approveBoughtCreative: ({ params, body, http }) =>
      review(database, { ...params, ...body, review: "approved", reason: null, author: authorOf(http), now: now() }),

    refuseBoughtCreative: ({ params, body, http }) =>
      review(database, { ...params, ...body, review: "refused", author: authorOf(http), now: now() }),

    reopenBoughtCreative: ({ params, body, http }) =>
      review(database, { ...params, ...body, review: "waiting", reason: null, author: authorOf(http), now: now() }),
  });
}

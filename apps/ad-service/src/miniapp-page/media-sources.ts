import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase } from "../ad-database.ts";
import { briefCache } from "../bots/brief-cache.ts";

const read = statement<{ source: string | null }>(
  "creatives.media-sources",
  `select distinct case kind when 'vast' then 'vast' else substring(url from '^https?://[^/?#@]+') end as source
   from creatives where kind <> 'file'`,
);

/** A new tag plays for users who open the page after this time. */
const KEPT_MS = 2000;

/**
 * Sources of videos other than this service, for the page's policy: the hosts of creatives by address; any https host
 * if there is a VAST tag, since the hosts of its ads are unknown until it is requested.
 */
export function mediaSources(database: AdDatabase, { isPlainHttpAllowed }: { isPlainHttpAllowed: boolean }) {
  const anywhere = isPlainHttpAllowed ? ["https:", "http:"] : ["https:"];
  const cache = briefCache<string[]>({
    maxAgeMs: KEPT_MS,
    maxEntries: 1,
    async load() {
      const found = (await database.run(read, [])).flatMap(({ source }) => (source === null ? [] : [source]));
      return found.includes("vast") ? anywhere : found.toSorted();
    },
  });
  return async () => (await cache.get("all")) ?? [];
}

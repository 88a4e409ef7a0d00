import { creativeSorts } from "@intermission/operator-api/creative-words";
import { creativeRoutes } from "@intermission/operator-api/creatives";
import { callOperator } from "../operator/call-operator.ts";
import { PAGE_ROWS, sortIn, usePages } from "../operator/use-pages.ts";
import { usePerson } from "../session/use-session.ts";
import type { CreativesSearch } from "./search.ts";

/** The creatives that the person sees and that match an address, the latest first or in its order. */
export function useCreatives({ advertiser, review, kind, find, sort }: CreativesSearch) {
  const person = usePerson();
  const query = {
    advertiser: person.advertiserId ?? advertiser,
    review,
    kind,
    find: find?.trim() || undefined,
    sort: sortIn(sort, creativeSorts),
    order: "newest",
    limit: PAGE_ROWS,
  } as const;
  return usePages(
    ["creatives", query],
    (after, signal) => callOperator(creativeRoutes.listCreatives, { query: { ...query, after } }, signal),
    { keepsRows: true },
  );
}

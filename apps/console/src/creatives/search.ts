import { creativeKinds, reviewStates } from "@intermission/operator-api/creative-words";
import { z } from "zod";
import { searchOf, sortField } from "../operator/address-search.ts";

/** The state of the list of creatives. */
export const creativesSearch = searchOf(
  z.object({
    find: z.string().max(64),
    advertiser: z.string().max(128),
    review: z.enum(reviewStates),
    kind: z.enum(creativeKinds),
    sort: sortField,
  }),
);
export type CreativesSearch = ReturnType<typeof creativesSearch>;

/** The tag in the field of the VAST tester. It is requested only when its reader says so. */
export const vastSearch = searchOf(z.object({ url: z.string().max(4096) }));

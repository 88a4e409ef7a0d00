import { payoutStates } from "@intermission/operator-api/publisher-money";
import { z } from "zod";
import { searchOf, sortField } from "../operator/address-search.ts";

/** Which month (UTC) is shown; without it the last one that is over. And which of the publishers. */
export const payoutsSearch = searchOf(
  z.object({
    month: z.string().regex(/^20\d\d-(0[1-9]|1[0-2])$/),
    find: z.string().max(128),
    state: z.enum(payoutStates),
    sort: sortField,
  }),
);

import { z } from "zod";
import { searchOf, sortField } from "../operator/address-search.ts";

/** The state of the list of advertisers. */
export const advertiserFilters = ["active", "archived", "empty"] as const;

export const advertisersSearch = searchOf(
  z.object({ find: z.string().max(128), state: z.enum(advertiserFilters), sort: sortField }),
);

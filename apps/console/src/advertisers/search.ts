import { z } from "zod";
import { searchOf } from "../operator/address-search.ts";

/** The state of the list of advertisers. */
export const advertisersSearch = searchOf(
  z.object({ find: z.string().max(128), state: z.enum(["active", "archived", "empty"]) }),
);

import { z } from "zod";
import { searchOf } from "../operator/address-search.ts";

/** Whose timeline is shown: what was searched for, and the bot where a user has several. */
export const timelineSearch = searchOf(
  z.object({
    find: z.string().trim().max(128),
    bot: z.string().regex(/^\d{1,20}$/),
  }),
);

import { z } from "zod";
import { searchOf } from "../operator/address-search.ts";

/** Which conversions are listed and summed: of a bot, a campaign, an event, and the days before now. */
export const conversionsSearch = searchOf(
  z.object({
    bot: z.string().regex(/^\d{1,20}$/),
    campaign: z.string().max(64),
    event: z.string().max(64),
    days: z.enum(["1", "30", "90"]),
  }),
);

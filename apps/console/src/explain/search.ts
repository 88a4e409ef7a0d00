import { campaignFormats, platforms } from "@intermission/operator-api/campaign-words";
import { z } from "zod";
import { searchOf } from "../operator/address-search.ts";

/** Of Telegram. */
export const userId = /^\d{1,20}$/;
const id = z.string().regex(userId);

/** For whom the choice of an ad is explained. */
export const explainSearch = searchOf(
  z.object({
    bot: id,
    user: id,
    format: z.enum(campaignFormats),
    language: z.string().regex(/^[a-z]{2,3}$/),
    platform: z.enum(platforms),
    campaign: z.string().max(64),
  }),
);

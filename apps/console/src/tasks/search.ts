import { taskState } from "@intermission/ad-core/event-words";
import { z } from "zod";
import { searchOf } from "../operator/address-search.ts";

/** The filter of the listed and summed tasks: campaign, bot, state. */
export const tasksSearch = searchOf(
  z.object({
    bot: z.string().regex(/^\d{1,20}$/),
    campaign: z.string().max(64),
    state: taskState,
  }),
);

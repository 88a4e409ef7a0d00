import { taskState } from "@intermission/ad-core/event-words";
import { z } from "zod";
import { searchOf } from "../operator/address-search.ts";

/** Which tasks are listed and summed: of a campaign, a bot, in one state. */
export const tasksSearch = searchOf(
  z.object({
    bot: z.string().regex(/^\d{1,20}$/),
    campaign: z.string().max(64),
    state: taskState,
  }),
);

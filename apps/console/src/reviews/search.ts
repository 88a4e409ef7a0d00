import { clickSuspicions, viewSuspicions } from "@intermission/operator-api/suspicions";
import { z } from "zod";
import { searchOf } from "../operator/address-search.ts";

export const reviewStates = ["held", "refused", "paid"] as const;
export type ReviewState = (typeof reviewStates)[number];

/** Of Telegram. */
export const userId = /^\d{1,20}$/;
const id = z.string().regex(userId);

/** Which suspicious views or clicks are listed, and decided together; without `of`: views, without `state`: held ones. */
export const reviewsSearch = searchOf(
  z.object({
    of: z.enum(["clicks"]),
    state: z.enum(["refused", "paid"]),
    bot: id,
    user: id,
    campaign: z.string().max(64),
    suspicion: z.enum([...viewSuspicions, ...clickSuspicions]),
  }),
);
export type ReviewsSearch = ReturnType<typeof reviewsSearch>;

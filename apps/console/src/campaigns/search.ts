import { campaignStatuses, phasesOfActive, phasesOfReview } from "@intermission/operator-api/campaign-words";
import { z } from "zod";
import { searchOf, sortField } from "../operator/address-search.ts";

/** The state of the list of campaigns. */
export const campaignsSearch = searchOf(
  z.object({
    find: z.string().max(64),
    advertiser: z.string().max(128),
    status: z.enum(campaignStatuses),
    phase: z.enum([...phasesOfActive, ...phasesOfReview]),
    sort: sortField,
  }),
);

export type CampaignsSearch = ReturnType<typeof campaignsSearch>;

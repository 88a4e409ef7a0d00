import { z } from "zod";
import { searchOf } from "../operator/address-search.ts";

export const decidedStates = ["approved", "refused", "withdrawn"] as const;

/** Which requests are listed; without it those that wait. */
export const approvalsSearch = searchOf(z.object({ state: z.enum(decidedStates) }));

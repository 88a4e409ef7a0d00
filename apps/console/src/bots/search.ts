import { z } from "zod";
import { searchOf } from "../operator/address-search.ts";

/** The state of the list of bots. */
export const botsSearch = searchOf(z.object({ find: z.string().max(64) }));

import { z } from "zod";
import { searchOf } from "../operator/address-search.ts";

/** Which of the publisher's bots is shown; without it the first one. */
export const publisherSearch = searchOf(z.object({ bot: z.string().regex(/^\d{1,20}$/) }));

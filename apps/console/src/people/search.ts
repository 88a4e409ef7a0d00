import { z } from "zod";
import { searchOf, sortField } from "../operator/address-search.ts";

/** The state of the list of people. */
export const peopleSearch = searchOf(z.object({ find: z.string().max(254), sort: sortField }));

import { z } from "zod";
import { searchOf, sortField } from "../operator/address-search.ts";

/** The order of the queues. */
export const systemSearch = searchOf(z.object({ sort: sortField }));

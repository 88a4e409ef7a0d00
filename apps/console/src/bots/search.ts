import { deliveryState } from "@intermission/ad-core/wire-fields";
import { z } from "zod";
import { searchOf, sortField } from "../operator/address-search.ts";

export const botStates = ["active", "suspended"] as const;

/** The state of the list of bots. */
export const botsSearch = searchOf(
  z.object({ find: z.string().max(64), webhooks: z.enum(["trouble"]), state: z.enum(botStates), sort: sortField }),
);

/** The state of a bot's page: which deliveries it lists, and the one that is open. */
export const botSearch = searchOf(z.object({ state: deliveryState, event: z.string().regex(/^[\w-]{1,64}$/) }));

import { objectKinds } from "@intermission/operator-api/object-kinds";
import { z } from "zod";
import { searchOf } from "../operator/address-search.ts";

/** What the audit trail is filtered by, and which entry is open. */
export const auditSearch = searchOf(
  z.object({
    find: z.string().max(128),
    change: z.string().max(64),
    kind: z.enum(objectKinds),
    object: z.string().max(512),
    actor: z.string().max(254),
    entry: z.string().regex(/^\d{1,17}$/),
  }),
);

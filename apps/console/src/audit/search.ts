import { z } from "zod";
import { searchOf } from "../operator/address-search.ts";

export const objectKinds = [
  ...(["campaign", "bot", "advertiser", "creative", "endpoint", "notices", "person"] as const),
  ...(["view", "click", "conversion", "delivery", "deployment", "saved-report", "sample"] as const),
] as const;

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

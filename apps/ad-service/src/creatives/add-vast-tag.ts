import { createHash } from "node:crypto";
import { webAddressFault } from "@intermission/ad-core/web-address";
import type { AdDatabase } from "../ad-database.ts";
import { type Creative, findCreative } from "./rows.ts";

export type AddVastTagOutcome = { outcome: "added"; creative: Creative } | { outcome: "refused"; message: string };

const LONGEST_TAG = 4096;

/**
 * Adds a VAST tag as a creative, which is requested whenever an ad is needed. Adding the same tag twice gives one
 * creative.
 */
export async function addVastTag(
  database: AdDatabase,
  { url, isPlainHttpAllowed, now }: { url: string; isPlainHttpAllowed: boolean; now: Date },
): Promise<AddVastTagOutcome> {
  const message = faultOf(url, isPlainHttpAllowed);
  if (message !== undefined) return { outcome: "refused", message };
  const creativeId = `cre_${createHash("sha256").update(`vast ${url}`).digest("hex").slice(0, 24)}`;
  await database.query
    .insertInto("creatives")
    .values({ creative_id: creativeId, kind: "vast", url, created_at: now })
    .onConflict((conflict) => conflict.column("creative_id").doNothing())
    .execute();
  const creative = await findCreative(database, creativeId);
  if (!creative) throw new Error("a creative vanished while it was added");
  return { outcome: "added", creative };
}

/** Stored as given: URL parsers would encode the brackets of some macros. */
function faultOf(url: string, isPlainHttpAllowed: boolean): string | undefined {
  if (url.length > LONGEST_TAG) return `the tag is longer than ${LONGEST_TAG} characters`;
  const fault = webAddressFault(url, { isPlainHttpAllowed });
  if (fault === "not-an-address")
    return "the tag is not an address; write it in full, such as https://ads.example.com/vast?id=1";
  if (fault === "scheme") return `the tag must begin with https://${isPlainHttpAllowed ? " or http://" : ""}`;
  return fault && "the tag must not hold a user name or password";
}

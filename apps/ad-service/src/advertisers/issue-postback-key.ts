import { createHash, randomBytes } from "node:crypto";
import type { AdDatabase } from "../ad-database.ts";
import { advertiserKey } from "./advertiser-names.ts";

/** Only the hash is stored. The key has 256 random bits, so a plain hash cannot be guessed. */
export function hashPostbackKey(key: string): Buffer {
  return createHash("sha256").update(key).digest();
}

/** Issues a new key for an advertiser's postbacks; the previous key becomes invalid. */
export async function issuePostbackKey(
  database: AdDatabase,
  { advertiser }: { advertiser: string },
): Promise<{ outcome: "issued"; advertiser: string; key: string } | { outcome: "unknown-advertiser" }> {
  const key = `pb_${randomBytes(32).toString("base64url")}`;
  const updated = await database.query
    .updateTable("advertisers")
    .set({ postback_key_hash: hashPostbackKey(key) })
    .where("name_key", "=", advertiserKey(advertiser))
    .returning("name")
    .executeTakeFirst();
  return updated ? { outcome: "issued", advertiser: updated.name, key } : { outcome: "unknown-advertiser" };
}

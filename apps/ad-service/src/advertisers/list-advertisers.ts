import { sql } from "kysely";
import type { AdDatabase } from "../ad-database.ts";

export interface Advertiser {
  name: string;
  campaigns: number;
  conversions: number;
  hasPostbackKey: boolean;
  createdAt: Date;
}

/** All advertisers by name, with what their postbacks have reported so far. */
export async function listAdvertisers(database: AdDatabase): Promise<Advertiser[]> {
  return database.query
    .selectFrom("advertisers")
    .select((of) => [
      "name",
      "created_at as createdAt",
      sql<boolean>`postback_key_hash is not null`.as("hasPostbackKey"),
      of
        .selectFrom("campaigns")
        // Qualified, because campaigns also have a column `name`.
        .whereRef("advertiser", "=", "advertisers.name")
        .select(of.fn.countAll<number>().as("n"))
        .as("campaigns"),
      of
        .selectFrom("conversions")
        .innerJoin("campaigns", "campaigns.campaign_id", "conversions.campaign_id")
        .whereRef("advertiser", "=", "advertisers.name")
        .select(of.fn.countAll<number>().as("n"))
        .as("conversions"),
    ])
    .orderBy("name")
    .$castTo<Advertiser>()
    .execute();
}

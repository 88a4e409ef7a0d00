import type { Sample } from "@intermission/operator-api/sample";
import { statement, type Transaction } from "@intermission/postgres/open-database";

export interface SampleRow {
  state: Sample["state"];
  botIds: string[];
  advertiserIds: string[];
  creativeIds: string[];
  startsAt: Date;
  endsAt: Date;
  /** Traffic before this moment is written. */
  writtenUntil: Date;
}

const lock = statement<SampleRow>(
  "sample.lock",
  `select state, bot_ids as "botIds", advertiser_ids as "advertiserIds", creative_ids as "creativeIds",
     starts_at as "startsAt", ends_at as "endsAt", written_until as "writtenUntil"
   from sample for update`,
);

/** Whoever adds or removes a part of the sample holds its row, so that each part is written once. */
export async function lockSample(tx: Transaction): Promise<SampleRow | undefined> {
  return (await tx.run(lock, []))[0];
}

const read = statement<Sample>(
  "sample.read",
  `select state, starts_at as "startsAt", ends_at as "endsAt",
     coalesce((select jsonb_agg(jsonb_build_object('botId', bot_id, 'name', name) order by bot_id)
       from bots where bot_id = any (bot_ids)), '[]') as bots,
     coalesce((select jsonb_agg(jsonb_build_object('advertiserId', advertiser_id, 'name', name) order by name)
       from advertisers where advertiser_id = any (advertiser_ids)), '[]') as advertisers
   from sample`,
);

export async function readSample(tx: Pick<Transaction, "run">): Promise<Sample | null> {
  return (await tx.run(read, []))[0] ?? null;
}

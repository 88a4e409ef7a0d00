import { firstEventIdAt } from "@intermission/ad-core/code";
import { type Author, audit, openChange } from "@intermission/postgres/audit";
import { type Database, type Statement, statement, type Transaction } from "@intermission/postgres/open-database";
import { lockSample, type SampleRow } from "./sample-row.ts";

const DAY_MS = 86_400_000;

export interface RemoveSampleDeps {
  database: Database;
  /** Takes campaigns out of the sums of campaigns, after their bots have left the sums of bots and campaigns. */
  removeFromSums: (tx: Transaction, of: { advertiserIds: readonly string[]; since: Date }) => Promise<void>;
}

export type RemoveSampleOutcome =
  | { outcome: "removed"; botIds: readonly string[] }
  | { outcome: "none" }
  /** An object outside of the sample refers to it; `message` names the object and the next step. */
  | { outcome: "in-use"; name: string; message: string };

/** Removes the sample and everything that refers to it. Continues a removal that was interrupted. */
export async function removeSample(
  { database, removeFromSums }: RemoveSampleDeps,
  { author, now }: { author?: Author | undefined; now: Date },
): Promise<RemoveSampleOutcome> {
  const begun = await database.transaction(async (tx) => {
    const change = await openChange(tx, author, "sample");
    const begun = await beginRemoval(tx);
    // A continued removal has an entry, too: its caller removes the objects that are left.
    if (begun.outcome === "begun") await audit(tx, change);
    return begun;
  });
  if (begun.outcome !== "begun") return begun;
  const { botIds, startsAt } = begun.sample;
  for (let from = startsAt.getTime(); from < now.getTime(); from += DAY_MS) {
    const day = [new Date(from), new Date(from + DAY_MS)];
    await database.transaction(async (tx) => {
      for (const [table, by] of Object.entries(traffic))
        await tx.run(deleteOfDay(table, by), [botIds, ...(by === "event_id" ? day.map(firstEventIdAt) : day)]);
    });
  }
  await database.transaction((tx) => removeRest(tx, removeFromSums));
  return { outcome: "removed", botIds };
}

// Unnamed, as all that runs rarely.
const readUses: Statement<{ name: string; message: string }> = {
  name: "",
  text: `select email as name, email || ' sees a bot or an advertiser of the sample; change the role first: people role ' || email as message
   from people where bot_ids && $1 or advertiser_id = any ($2)
   union all
   select name, 'the campaign ' || name || ' shows a video of the sample; archive it or take the video out first: campaigns detach '
     || campaign_id || ' ' || creative_id
   from campaign_creatives join campaigns using (campaign_id)
   where creative_id = any ($3) and advertiser_id <> all ($2)
   limit 1`,
};
const setRemoving = statement<never>("sample.set-removing", "update sample set state = 'removing'");

async function beginRemoval(
  tx: Transaction,
): Promise<Exclude<RemoveSampleOutcome, { outcome: "removed" }> | { outcome: "begun"; sample: SampleRow }> {
  const sample = await lockSample(tx);
  if (sample === undefined) return { outcome: "none" };
  const [use] = await tx.run(readUses, [sample.botIds, sample.advertiserIds, sample.creativeIds]);
  if (use !== undefined) return { outcome: "in-use", ...use };
  await tx.run(setRemoving, []);
  return { outcome: "begun", sample };
}

/** The tables of traffic with their times, or the ids that begin with it: rows of bots, of which a day is deleted at once. */
export const traffic = {
  delivery_attempts: "started_at",
  deliveries: "created_at",
  event_bodies: "event_id",
  refunds: "occurred_at",
  conversion_reversals: "occurred_at",
  conversions: "occurred_at",
  cta_clicks: "occurred_at",
  events: "occurred_at",
  withheld_clicks: "occurred_at",
  click_refusals: "quarter",
  ad_milestones: "occurred_at",
  ad_requests: "occurred_at",
  ad_reports: "reported_at",
  views: "opened_at",
  codes: "issued_at",
} as const;

/** The other tables with rows of bots. `endpoint_claims` and `notices` go with the rows that they refer to. */
export const ofBots = [
  "tracker_calls",
  "tasks",
  "view_launches",
  "bought_impressions",
  "cards",
  "opening_offers",
  "source_tries",
  "source_orders",
  "buyer_exchanges",
  "bought_creative_reports",
  "vast_ads",
  "views_due",
  "current_codes",
  "viewers",
  "viewer_consents",
  "network_days",
  "stats_sums",
  "stats_audiences",
  "stats_reasons",
  "conversion_quarters",
  "stats_bot_sums",
  "stats_bot_audiences",
  "stats_bot_reasons",
  "notice_receivers",
  "script_sightings",
  "endpoints",
  "bot_tokens",
  "bots",
] as const;

// Unnamed, since they run rarely, and a plan that was kept would not know how many rows are left.
const deleteOfDay = (table: string, by: string): Statement<never> => ({
  name: "",
  text: `delete from ${table} where bot_id = any ($1) and ${by} >= $2 and ${by} < $3`,
});
const unnamed = (text: string): Statement<never> => ({ name: "", text });

/*
 * The rows of these tables stay as they are: a trigger refuses deletes. Only here it is set aside, within one transaction that
 * keeps others from writing into them. What is deleted are whole transactions in which an account of the sample takes part,
 * and no real account ever does.
 */
const appendOnly = ["money_items", "money_entries", "money_transactions"] as const;
const readTransactions = statement<{ ids: string[] }>(
  "sample.read-transactions",
  `select coalesce(array_agg(distinct transaction_id), '{}') as ids from money_entries
   where account = any ($1)`,
);

/** Everything that is left. No node may count or settle meanwhile what is deleted. */
async function removeRest(tx: Transaction, removeFromSums: RemoveSampleDeps["removeFromSums"]): Promise<void> {
  const sample = await lockSample(tx);
  if (sample === undefined) return;
  const { botIds, advertiserIds, creativeIds, startsAt } = sample;
  await tx.run(unnamed("select from stats_progress where source = 'requests' for update"), []);
  await tx.run(unnamed("select from money_progress order by source for update"), []);
  for (const table of [...Object.keys(traffic), ...ofBots.filter((table) => table !== "bots")])
    await tx.run(unnamed(`delete from ${table} where bot_id = any ($1)`), [botIds]);
  await removeFromSums(tx, { advertiserIds, since: startsAt });
  await tx.run(unnamed("delete from money_requests where object_id = any ($1)"), [[...botIds, ...advertiserIds]]);
  await removeMoney(tx, [
    ...botIds.map((botId) => `publisher:${botId}`),
    ...advertiserIds.map((advertiserId) => `advertiser:${advertiserId}`),
  ]);
  const ofAdvertisers = "campaign_id in (select campaign_id from campaigns where advertiser_id = any ($1))";
  for (const table of ["campaign_days", "campaign_creatives", "campaigns"])
    await tx.run(unnamed(`delete from ${table} where ${ofAdvertisers}`), [advertiserIds]);
  await tx.run(unnamed("delete from creatives where creative_id = any ($1)"), [creativeIds]);
  await tx.run(unnamed("delete from creatives where advertiser_id = any ($1)"), [advertiserIds]);
  await tx.run(unnamed("delete from advertisers where advertiser_id = any ($1)"), [advertiserIds]);
  await tx.run(unnamed("delete from bots where bot_id = any ($1)"), [botIds]);
  await tx.run(unnamed("delete from sample"), []);
}

async function removeMoney(tx: Transaction, accounts: readonly string[]): Promise<void> {
  const ids = (await tx.run(readTransactions, [accounts]))[0]?.ids ?? [];
  await tx.run(unnamed("delete from money_parties where account = any ($1)"), [accounts]);
  for (const table of appendOnly) {
    await tx.run(unnamed(`alter table ${table} disable trigger ${table}_stay`), []);
    await tx.run(unnamed(`delete from ${table} where transaction_id = any ($1)`), [ids]);
    await tx.run(unnamed(`alter table ${table} enable trigger ${table}_stay`), []);
  }
}

import { randomBytes } from "node:crypto";
import { CODE_RANDOM_BYTES, newCodePrefix } from "@intermission/ad-core/code";
import { advertiserKey } from "@intermission/operator-api/advertisers";
import { type Author, audit, openChange } from "@intermission/postgres/audit";
import { type Database, type Statement, statement, type Transaction } from "@intermission/postgres/open-database";
import { selectTerms } from "../campaigns/event-worth.ts";
import { advertiserAccount, movement, recordTransaction } from "../money/ledger.ts";
import { settleCharges } from "../money/settle-charges.ts";
import { type Dice, planDay, type TrafficTerms } from "./plan-day.ts";
import { sampleAdvertisers, sampleBots, sampleCampaigns, sampleCreatives } from "./sample-objects.ts";
import { lockSample, readSample, type SampleRow } from "./sample-row.ts";
import { writeDay } from "./write-day.ts";

const DAY_MS = 86_400_000;
const SAMPLE_DAYS = 14;
/** A code of the sample has expired before anybody could open it. */
const CODE_MS = 3_600_000;

export interface AddSampleDeps {
  database: Database;
  /** Of all amounts (ISO 4217). */
  currency: string;
  hasCountries: boolean;
  /** Adds a batch of each kind of rows to the sums of the statistics. */
  rollUpStatistics: () => Promise<{ hasMore: boolean }>;
  /** For the rows of a period that is over. */
  makePartitions: (period: { from: Date; to: Date }) => Promise<void>;
}

export type AddSampleOutcome =
  | { outcome: "added" }
  /** The sample's campaigns need a video to copy, and there is none. */
  | { outcome: "no-video" }
  | { outcome: "removing" }
  /** An object of the operator has the name of one of the sample's objects. */
  | { outcome: "name-taken"; name: string };

/**
 * Adds the sample, or continues where adding it was interrupted: first the objects, then one day of traffic in each
 * transaction, in the tables of real traffic. Statistics and ledger entries are then computed from it as from real traffic.
 */
export async function addSample(
  deps: AddSampleDeps,
  { author, now }: { author?: Author | undefined; now: Date },
): Promise<AddSampleOutcome> {
  const { database } = deps;
  const begun = await database.transaction(async (tx) => {
    const change = await openChange(tx, author, "sample");
    const isFinished = (await lockSample(tx))?.state === "added";
    const added = await addObjects(tx, deps.currency, now);
    if (added.outcome === "added" && !isFinished) await audit(tx, change);
    return added;
  });
  if (begun.outcome !== "added") return begun;
  const sample = await readSample(database);
  if (sample !== null) await deps.makePartitions({ from: new Date(sample.startsAt), to: now });
  const dice: Dice = { random: Math.random, bytes: randomBytes };
  while (await database.transaction((tx) => addNextDay(tx, deps, dice))) {
    // A charge of each day, as a running service makes them.
    await settleCharges(database);
  }
  while ((await deps.rollUpStatistics()).hasMore);
  while ((await settleCharges(database)).hasMore);
  return { outcome: "added" };
}

// Unnamed, since it runs rarely.
const findVideo: Statement<{ id: string }> = {
  name: "",
  text: `select creative_id as id from creatives
   where kind = 'file' and review = 'approved' order by poster_file_name is null, created_at limit 1`,
};
const findName = statement<{ name: string }>(
  "sample.find-name",
  "select name from advertisers where name_key = any ($1) limit 1",
);
const insertSample = statement<never>(
  "sample.insert",
  `insert into sample (state, bot_ids, advertiser_ids, creative_ids, starts_at, ends_at, written_until)
   values ('adding', $1, $2, $3, $4, $5, $4)`,
);
const insertBot = statement<never>(
  "sample.insert-bot",
  `insert into bots (bot_id, code_prefix, name, username, category, time_zone, cooldown_seconds, daily_cap, suspicious_views,
     suspicious_clicks, created_at, updated_at)
   values ($1, $2, $3, $4, $5, $6, 0, 50, 'hold', 'hold', $7, $7)`,
);
const insertAdvertiser = statement<never>(
  "sample.insert-advertiser",
  `insert into advertisers (advertiser_id, name, name_key, billing, credit_limit_micros, created_at)
   values ($1, $2, $3, $4, $5, $6)`,
);
// Without the hash: a video is found by it when it is uploaded again.
const copyVideo = statement<never>(
  "sample.copy-video",
  `insert into creatives (creative_id, name, kind, file_name, poster_file_name, media_type, byte_length, duration_ms, width,
     height, frames_by_second, renditions, captions, advertiser_id, review, reviewed_at, submitted_at, created_at)
   select $2, $3, kind, file_name, poster_file_name, media_type, byte_length, duration_ms, width, height, frames_by_second,
     renditions, captions, $4, $5, case when $5 = 'approved' then $6::timestamptz end, $6, $6
   from creatives where creative_id = $1`,
);
const insertCampaign = statement<never>(
  "sample.insert-campaign",
  `insert into campaigns (campaign_id, name, advertiser_id, formats, starts_at, ends_at, landing_url, call_to_action, weight,
     view_price_micros, click_price_micros, daily_budget_micros, total_budget_micros, targeting, created_at, updated_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $5, $5)`,
);
const attachVideos = statement<never>(
  "sample.attach-videos",
  "insert into campaign_creatives (campaign_id, creative_id) select $1, creative_id from unnest($2::text[]) as creative_id",
);

async function addObjects(tx: Transaction, currency: string, now: Date): Promise<AddSampleOutcome> {
  const known = await lockSample(tx);
  if (known !== undefined) return { outcome: known.state === "removing" ? "removing" : "added" };
  const [video] = await tx.run(findVideo, []);
  if (video === undefined) return { outcome: "no-video" };
  const [taken] = await tx.run(findName, [sampleAdvertisers.map(({ name }) => advertiserKey(name))]);
  if (taken !== undefined) return { outcome: "name-taken", name: taken.name };
  const endsAt = new Date(now.getTime() - CODE_MS);
  const startsAt = new Date((Math.floor(endsAt.getTime() / DAY_MS) - SAMPLE_DAYS) * DAY_MS);
  const botIds = sampleBots.map(({ botId }) => botId);
  const advertiserIds = sampleAdvertisers.map(({ advertiserId }) => advertiserId);
  const creativeIds = sampleCreatives.map(({ creativeId }) => creativeId);
  await tx.run(insertSample, [botIds, advertiserIds, creativeIds, startsAt, endsAt]);
  for (const { botId, name, username, category, timeZone } of sampleBots) {
    const prefix = newCodePrefix(randomBytes(CODE_RANDOM_BYTES));
    await tx.run(insertBot, [botId, prefix, name, username, category, timeZone, startsAt]);
  }
  await addAdvertisers(tx, currency, startsAt);
  for (const { creativeId, name, advertiserId, review } of sampleCreatives)
    await tx.run(copyVideo, [video.id, creativeId, name, advertiserId, review, review === "waiting" ? now : startsAt]);
  await addCampaigns(tx, botIds, startsAt);
  return { outcome: "added" };
}

async function addAdvertisers(tx: Transaction, currency: string, startsAt: Date): Promise<void> {
  for (const one of sampleAdvertisers) {
    const { advertiserId, name, billing, creditLimitMicros } = one;
    await tx.run(insertAdvertiser, [advertiserId, name, advertiserKey(name), billing, creditLimitMicros, startsAt]);
    if (!("topUpMicros" in one)) continue;
    const entries = movement({ from: "cash", to: advertiserAccount(advertiserId), amountMicros: one.topUpMicros });
    const transactionId = `top-up ${advertiserId}`;
    const made = { transactionId, kind: "top_up" as const, entries, currency, at: startsAt };
    await recordTransaction(tx, { ...made, reference: "SAMPLE-1" });
  }
}

async function addCampaigns(tx: Transaction, botIds: readonly string[], sampleStartsAt: Date): Promise<void> {
  const dayOf = (day: number | null) => day !== null && new Date(sampleStartsAt.getTime() + day * DAY_MS);
  for (const campaign of sampleCampaigns) {
    const { campaignId, name, advertiserId, format, priceMicros, weight, creativeIds } = campaign;
    const slug = campaignId.replace("cmp_Sample", "").toLowerCase();
    const prices = format === "rewarded" ? [priceMicros, 0] : [0, priceMicros];
    await tx.run(insertCampaign, [
      campaignId,
      name,
      advertiserId,
      [format],
      dayOf(campaign.startsOn),
      dayOf(campaign.endsOn) || null,
      `https://landing.example/${slug}`,
      campaign.callToAction,
      weight,
      ...prices,
      campaign.dailyBudgetMicros,
      campaign.totalBudgetMicros,
      JSON.stringify({ bots: botIds }),
    ]);
    await tx.run(attachVideos, [campaignId, creativeIds]);
  }
}

const readTerms = statement<{ sharePercent: number; currency: string | null; durationMs: number | null }>(
  "sample.read-terms",
  `select ${selectTerms}, (select max(duration_ms) from creatives where creative_id = any ($1)) as "durationMs"`,
);
const readPrefixes = statement<{ botId: string; codePrefix: string }>(
  "sample.read-prefixes",
  `select bot_id as "botId", code_prefix as "codePrefix" from bots where bot_id = any ($1)`,
);
const moveOn = statement<never>(
  "sample.move-on",
  "update sample set written_until = $1, state = case when $1 >= ends_at then 'added' else state end",
);

/** Returns whether there was a day to add. */
async function addNextDay(tx: Transaction, deps: AddSampleDeps, dice: Dice): Promise<boolean> {
  const sample = await lockSample(tx);
  if (sample?.state !== "adding") return false;
  const { writtenUntil: from, startsAt, endsAt } = sample;
  const start = new Date(Math.floor(from.getTime() / DAY_MS) * DAY_MS);
  const until = new Date(Math.min(start.getTime() + DAY_MS, endsAt.getTime()));
  const index = Math.round((start.getTime() - startsAt.getTime()) / DAY_MS);
  const day = { start, index, from, until, hasHeld: index >= SAMPLE_DAYS - 1 };
  const terms = await termsOf(tx, sample, deps);
  const prefixes = new Map((await tx.run(readPrefixes, [sample.botIds])).map((bot) => [bot.botId, bot.codePrefix]));
  const bots = sampleBots.flatMap((bot) => {
    const codePrefix = prefixes.get(bot.botId);
    return codePrefix === undefined ? [] : [{ ...bot, codePrefix }];
  });
  await writeDay(tx, planDay({ bots, day, terms, dice }));
  await tx.run(moveOn, [until]);
  return true;
}

async function termsOf(
  tx: Transaction,
  { creativeIds }: SampleRow,
  { currency, hasCountries }: AddSampleDeps,
): Promise<TrafficTerms> {
  const [row] = await tx.run(readTerms, [creativeIds]);
  if (row === undefined || row.durationMs === null) throw new Error("the videos of the sample disappeared");
  const { sharePercent, durationMs } = row;
  return { sharePercent, durationMs, currency, hasCountries, campaigns: sampleCampaigns };
}

import { type CampaignFormat, isViewFormat } from "@intermission/operator-api/campaign-words";
import { statement, type Transaction } from "@intermission/postgres/open-database";
import { type AdvertiserFunds, lockFunds, readFundsOf } from "./advertiser-funds.ts";
import { type CampaignSnapshot, deliveredBy } from "./campaign-snapshot.ts";
import { type CampaignState, fullLimit, holdAd, isNearLimit } from "./campaign-state.ts";
import { type Choice, chooseAd } from "./choose-ad.ts";
import type { AdRequest } from "./eligibility.ts";

/** Enough for the largest user cap of a few campaigns; a user who saw more has reached each of them. */
const MAX_SEEN_ADS = 5000;

const selectSeen = (of: { botId: string; userId: string; since: string }) => `
  (select campaign_id as "campaignId", occurred_at as at from events
   where events.bot_id = ${of.botId} and events.user_id = ${of.userId} and occurred_at > ${of.since}
     and price_micros is not null
   order by occurred_at desc limit ${MAX_SEEN_ADS})
  union all
  (select campaign_id, opened_at from views
   where views.bot_id = ${of.botId} and views.user_id = ${of.userId} and opened_at > ${of.since}
     and views.code >= code_week_at(${of.since} - interval '2 days') and state in ('playing', 'watched', 'held')
     and charged_at is null
   order by opened_at desc limit ${MAX_SEEN_ADS})`;

/** SQL that returns the same as a JSON array of `{campaignId, at}`, or null. */
export function seenByUser(of: { botId: string; userId: string; since: string }): string {
  return `select json_agg(seen) from (${selectSeen(of)}) as seen`;
}

const seen = statement<{ campaignId: string; at: Date }>(
  "campaigns.seen-by-user",
  selectSeen({ botId: "$1", userId: "$2", since: "$3" }),
);

/** When a bot's user was shown or followed ads since a moment, by campaign. Includes views in flight. */
async function readSeen(
  database: Transaction,
  { botId, userId, since }: { botId: string; userId: string; since: Date },
): Promise<Map<string, Date[]>> {
  const byCampaign = new Map<string, Date[]>();
  for (const { campaignId, at } of await database.run(seen, [botId, userId, since])) {
    const known = byCampaign.get(campaignId);
    if (known) known.push(at);
    else byCampaign.set(campaignId, [at]);
  }
  return byCampaign;
}

export interface UserAdRequest extends Omit<AdRequest, "seen"> {
  userId: string;
  /** When the user saw ads of campaigns with a user cap, if the caller has already read it. */
  seen?: Map<string, Date[]>;
}

/** A chosen ad is held against its limits; `release`: it is not used after all. */
export type SelectedAd =
  | (Extract<Choice, { outcome: "chosen" }> & { release: () => void })
  | Extract<Choice, { outcome: "no-ad" }>;

/** How many full campaigns are tried, one after another, before the answer is that no ad fits. */
const MAX_TRIES = 20;

// `for no key update` does not block inserts into campaign_days, whose foreign key refers to this row.
const lockCampaign = statement(
  "campaigns.lock-for-last-ads",
  "select campaign_id from campaigns where campaign_id = $1 for no key update",
);

/**
 * Chooses an ad for a user and holds it against its campaign's limits. Near a limit the database is queried for what is
 * left. The last ads before a limit are served one at a time across all nodes, so that the limit is never exceeded: before
 * storing the view or click, check `isSerialized`, and then `hasBudgetLeft` in the transaction that stores it.
 */
export async function selectAd(
  { database, campaigns }: { database: Transaction; campaigns: CampaignSnapshot },
  { userId, ...request }: UserAdRequest,
  { now, random }: { now: Date; random: () => number },
): Promise<SelectedAd> {
  const seen = request.seen ?? (await seenBy({ database, campaigns }, { botId: request.bot.botId, userId }, now));
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    const choice = chooseAd(campaigns.index, { ...request, seen }, { now, random });
    if (choice.outcome === "no-ad") return choice;
    const release = await holdWithinLimits({ database, campaigns }, choice.state, { format: request.format, now });
    if (release) return { ...choice, release };
  }
  return { outcome: "no-ad", reason: "none-fits" };
}

/** Holds an ad of a campaign against its limits, and returns what releases it; undefined: a limit is reached. */
export async function holdWithinLimits(
  { database, campaigns }: { database: Transaction; campaigns: CampaignSnapshot },
  state: CampaignState,
  { format, now }: { format: CampaignFormat; now: Date },
): Promise<(() => void) | undefined> {
  if (isNearLimit(state, format) && !(await hasMore(database, state, { format, now }))) return undefined;
  return holdAd(campaigns, state.campaign.campaignId, format);
}

/** Whether the selected ad stays within each limit. Locks the campaign, so that other nodes wait until the transaction ends. */
export async function hasBudgetLeft(
  database: Transaction,
  state: CampaignState,
  { format, now }: { format: CampaignFormat; now: Date },
): Promise<boolean> {
  const { campaign } = state;
  await database.run(lockCampaign, [campaign.campaignId]);
  if (state.funds) await lockFunds(database, campaign.advertiserId);
  const ownViews = isViewFormat(format) ? 1 : 0;
  const heldByOthers = (funds: AdvertiserFunds) => funds.heldMicros - ownViews * campaign.viewPriceMicros;
  const funds = state.funds && { ...state.funds, heldMicros: heldByOthers(state.funds) };
  const others = { ...state, viewsInFlight: state.viewsInFlight - ownViews, funds };
  const delivered = await readDelivered(database, others, now);
  keepDelivered(state, delivered);
  return fullLimit({ ...state, ...delivered }, format) === undefined;
}

async function hasMore(
  database: Transaction,
  state: CampaignState,
  { format, now }: { format: CampaignFormat; now: Date },
): Promise<boolean> {
  await askLimits(database, state, now);
  return fullLimit(state, format) === undefined;
}

/** Updates this node's state of a campaign from what is committed, so that this node respects it before its next refresh. */
export async function askLimits(database: Transaction, state: CampaignState, now: Date): Promise<void> {
  keepDelivered(state, await readDelivered(database, state, now));
}

/** The funds are changed in place, since the advertiser's other campaigns share them. */
function keepDelivered(state: CampaignState, { funds, ...delivered }: Awaited<ReturnType<typeof readDelivered>>): void {
  Object.assign(state, delivered);
  if (state.funds && funds) Object.assign(state.funds, funds);
}

/** The ad that a user of whom only the id is known would most likely get. Holds nothing. */
export async function likelyAd(
  { database, campaigns }: { database: Transaction; campaigns: CampaignSnapshot },
  { userId, ...request }: UserAdRequest,
  { now, random }: { now: Date; random: () => number },
): Promise<Choice> {
  const seen = await seenBy({ database, campaigns }, { botId: request.bot.botId, userId }, now);
  return chooseAd(campaigns.index, { ...request, seen }, { now, random });
}

/** When a user saw ads of campaigns with a user cap. Without such campaigns the database is not queried. */
export async function seenBy(
  { database, campaigns }: { database: Transaction; campaigns: CampaignSnapshot },
  user: { botId: string; userId: string },
  now: Date,
): Promise<Map<string, Date[]>> {
  const seconds = campaigns.index.userCapSeconds;
  if (seconds === undefined) return new Map();
  return readSeen(database, { ...user, since: new Date(now.getTime() - seconds * 1000) });
}

async function readDelivered(database: Transaction, state: CampaignState, now: Date) {
  const [found] = await database.run(deliveredBy, [now, state.campaign.campaignId]);
  if (!found) throw new Error("campaigns.delivered-by returned no row");
  const { views, clicks, spentMicros, viewsInFlight } = found;
  const funds = state.funds && (await readFundsOf(database, state.campaign.advertiserId, now));
  return {
    today: { views, clicks, spentMicros },
    earlier: { views: found.earlierViews, clicks: found.earlierClicks, spentMicros: found.earlierSpentMicros },
    // Ads that this node has served but not yet stored count too.
    viewsInFlight: Math.max(viewsInFlight, state.viewsInFlight),
    funds: funds && { ...funds, heldMicros: Math.max(funds.heldMicros, state.funds?.heldMicros ?? 0) },
  };
}

/**
 * SQL of one row about the user's views that may still earn, except the view of `code`. The arguments are SQL expressions; the
 * codes of views that are open now are from `first` to `last`.
 */
export function selectUnfinishedViews(
  of: Readonly<Record<"botId" | "userId" | "code" | "now" | "first" | "last", string>>,
): string {
  return `select count, last_active_at as "lastActiveAt", first_deadline as "firstDeadline"
   from unfinished_views(${of.botId}, ${of.userId}, ${of.code}, ${of.now}, ${of.first}, ${of.last})`;
}

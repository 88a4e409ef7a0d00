import { OverloadedError } from "@intermission/postgres/group-commits";
import type { Database } from "@intermission/postgres/open-database";
import { inTurn, type Turns } from "@intermission/server/in-turn";
import type { FastifyBaseLogger } from "fastify";
import type { CampaignSnapshot } from "../ad-selection/campaign-snapshot.ts";
import { type CampaignState, holdAd, isNearLimit, isSerialized } from "../ad-selection/campaign-state.ts";
import { chooseAd } from "../ad-selection/choose-ad.ts";
import { askLimits, hasBudgetLeft } from "../ad-selection/select-ad.ts";
import type { Bots } from "../bots/bots.ts";
import type { Deliveries } from "../deliveries/enqueue-webhook.ts";
import { leadsToAd } from "./click-verdict.ts";
import type { Click } from "./judge-click.ts";
import { type FollowedClick, judgeClicks } from "./judge-clicks.ts";
import { addPending, noUsers, oneUser, type PendingUsers, takePending } from "./network-users.ts";
import { type UsualClicks, usualClicksOf } from "./usual-clicks.ts";
import type { JudgedVisit } from "./visit.ts";

export interface ClickDeps {
  database: Database;
  bots: Bots;
  deliveries: Deliveries;
  campaigns: CampaignSnapshot;
  log: Pick<FastifyBaseLogger, "info" | "debug">;
  /** Limit of counted clicks of one address on one day (UTC); undefined: unlimited. */
  maxDailyClicksPerAddress?: number | undefined;
}

/** A visit's verdict, and the ad that was chosen for it. */
export interface FollowedVisit extends FollowedClick {
  state: CampaignState | undefined;
}

/** A chosen ad, reserved against its campaign's limits until it is known whether it counts. */
interface ChosenAd {
  state: CampaignState;
  isSerialized: boolean;
  release(): void;
}

export interface FollowingDeps extends ClickDeps {
  readonly usual: UsualClicks;
  readonly pendingUsers: PendingUsers;
}

/** Chooses an ad for each of simultaneous visits, judges the visits and stores what was decided. */
export async function followBatch(deps: FollowingDeps, batch: readonly JudgedVisit[]): Promise<FollowedVisit[]> {
  const ads = await chooseAds(deps, batch);
  const usual = await usualClicksOfBatch(deps.usual, batch);
  const clicks = batch.map((visit, index) => clickOf(deps, visit, ads[index], usual));
  const { database, deliveries, maxDailyClicksPerAddress } = deps;
  const followed = await deliveries.sendNew(batch.length, (slots) =>
    judgeClicks(database, clicks, { maxDailyClicksPerAddress, slots }),
  );
  return ads.map((ad, index) => {
    const link = followed[index];
    const click = clicks[index];
    if (link === undefined || click === undefined) throw new Error("the database returned nothing for a visit");
    keepUsers(deps, click, link);
    if (link.verdict.outcome !== "counted") ad?.release();
    return { ...link, state: ad?.state };
  });
}

/** Of each bot, read once for a batch. */
async function usualClicksOfBatch(usual: UsualClicks, batch: readonly JudgedVisit[]): Promise<Map<string, number>> {
  const clicks = new Map<string, number>();
  for (const { request, now } of batch) {
    const { botId } = request.bot;
    if (!clicks.has(botId)) clicks.set(botId, await usualClicksOf(usual, botId, now));
  }
  return clicks;
}

function clickOf(
  deps: FollowingDeps,
  visit: JudgedVisit,
  ad: ChosenAd | undefined,
  usual: ReadonlyMap<string, number>,
): Click {
  return {
    visit,
    campaignId: ad?.state.campaign.campaignId,
    isNearLimit: ad?.isSerialized ?? false,
    network:
      visit.visitor.kind === "machine"
        ? { isStored: false, pending: noUsers }
        : takePending(deps.pendingUsers, networkKeyOf(visit)),
    usualClicks: usual.get(visit.request.bot.botId) ?? 0,
  };
}

const networkKeyOf = ({ request, hashes }: JudgedVisit) => `${request.bot.botId} ${hashes.network}`;

/** Keeps in memory what the statement did not store of the visit's network. */
function keepUsers({ pendingUsers }: FollowingDeps, { visit, network }: Click, followed: FollowedClick): void {
  const isWritten = leadsToAd(followed.verdict);
  if (network.isStored && !isWritten && network.pending.users > 0)
    addPending(pendingUsers, networkKeyOf(visit), network.pending);
  if (!network.isStored && followed.addsUser) addPending(pendingUsers, networkKeyOf(visit), oneUser(visit.now));
}

/** Chooses an ad for each visit. If a campaign is near a limit, the database is queried first, once for all visits. */
async function chooseAds(deps: ClickDeps, batch: readonly JudgedVisit[]): Promise<(ChosenAd | undefined)[]> {
  const { campaigns } = deps;
  const queried = new Set<string>();
  for (;;) {
    const ads = batch.map((visit): ChosenAd | undefined => {
      if (visit.visitor.kind === "machine") return undefined;
      const choice = chooseAd(campaigns.index, visit.request, { now: visit.now, random: Math.random });
      if (choice.outcome === "no-ad") return undefined;
      const { state } = choice;
      const release = holdAd(campaigns, state.campaign.campaignId, "direct_link");
      return { state, isSerialized: isSerialized(state, "direct_link"), release };
    });
    const unqueried = ads.find((ad) => ad && isNearLimit(ad.state, "direct_link") && !queried.has(idOf(ad)));
    if (unqueried === undefined) return ads;
    for (const ad of ads) ad?.release();
    queried.add(idOf(unqueried));
    await askLimits(deps.database, unqueried.state, batch[0]?.now ?? new Date());
  }
}

const idOf = ({ state }: ChosenAd) => state.campaign.campaignId;

/** Visits that may wait for a campaign's last clicks on this node; further visitors must retry. */
const MAX_WAITING = 500;

/**
 * Follows the last links before a campaign's limit, one at a time: the transaction that counts a click also reads how
 * much is left, so that none is counted beyond the limit. The visits queue on this node, since in the database they
 * would wait for one another too, each with a connection that other requests need. The verdict stays `near-limit` if
 * nothing is left: choose another ad.
 */
export function followNearLimit(
  clicks: FollowingDeps & { readonly lastClicks: Turns },
  visit: JudgedVisit,
  state: CampaignState,
): Promise<FollowedVisit> {
  const { database, campaigns, deliveries, lastClicks, maxDailyClicksPerAddress } = clicks;
  const { campaignId } = state.campaign;
  if (lastClicks.get(campaignId)?.length === MAX_WAITING)
    throw new OverloadedError(`${MAX_WAITING} clicks wait for one campaign`);
  return inTurn(lastClicks, campaignId, async () => {
    const usual = await usualClicksOfBatch(clicks.usual, [visit]);
    const click = { ...clickOf(clicks, visit, undefined, usual), campaignId };
    const followed = await database.transaction(async (tx) => {
      if (!(await hasBudgetLeft(tx, state, { format: "direct_link", now: visit.now }))) return undefined;
      return (await judgeClicks(tx, [click], { maxDailyClicksPerAddress, slots: 0 })).result[0];
    });
    if (followed) keepUsers(clicks, click, followed);
    if (followed?.verdict.outcome === "counted") {
      holdAd(campaigns, campaignId, "direct_link");
      deliveries.wake();
    }
    return followed
      ? { ...followed, state }
      : { verdict: { outcome: "near-limit" }, userId: null, addsUser: false, state };
  });
}

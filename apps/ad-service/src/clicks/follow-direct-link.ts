import {
  CODE_RANDOM_BYTES,
  codePrefixOf,
  eventIdOfClick,
  isCode,
  newClickId,
  newCodeInPlaceOf,
} from "@intermission/ad-core/code";
import type { Bot } from "@intermission/operator-api/bots";
import type { Campaign } from "@intermission/operator-api/campaigns";
import { type CommitGroup, groupCommits, OverloadedError } from "@intermission/postgres/group-commits";
import type { Database } from "@intermission/postgres/open-database";
import { inTurn, type Turns } from "@intermission/server/in-turn";
import { randomBytes } from "@intermission/server/random-bytes";
import { type RateLimiter, rateLimiter } from "@intermission/server/rate-limiter";
import { currentTraceparent } from "@intermission/server/trace-context";
import type { FastifyBaseLogger } from "fastify";
import type { CampaignSnapshot } from "../ad-selection/campaign-snapshot.ts";
import { type CampaignState, holdAd, isNearLimit, isSerialized } from "../ad-selection/campaign-state.ts";
import { chooseAd } from "../ad-selection/choose-ad.ts";
import { type AdRequest, languageOf, platformOf } from "../ad-selection/eligibility.ts";
import { askLimits, hasBudgetLeft, seenBy } from "../ad-selection/select-ad.ts";
import { type Bots, findBotByPrefix } from "../bots/bots.ts";
import { landingAddress } from "../campaigns/campaign-settings.ts";
import type { Deliveries } from "../deliveries/enqueue-webhook.ts";
import { type ClickVerdict, leadsToAd, type PlainRefusal, refusalOf, refusalPages } from "./click-verdict.ts";
import type { Click } from "./judge-click.ts";
import { type FollowedClick, judgeClicks } from "./judge-clicks.ts";
import { addPending, noUsers, oneUser, openPendingUsers, type PendingUsers, takePending } from "./network-users.ts";
import { openUsualClicks, type UsualClicks, usualClicksOf } from "./usual-clicks.ts";
import type { JudgedVisit, Visit } from "./visit.ts";

export type LinkBot = Pick<Bot, "name" | "username">;

export type FollowOutcome =
  | { outcome: "landed"; url: string }
  | { outcome: "tap-needed"; bot: LinkBot }
  | { outcome: "machine" }
  | { outcome: "unknown-code" }
  | { outcome: "expired"; bot: LinkBot }
  | { outcome: "used"; bot: LinkBot }
  | { outcome: "limited"; reason: "cooldown" | "daily-cap"; availableAt: Date; bot: LinkBot }
  | { outcome: "no-ad"; bot: LinkBot }
  /** `url`: where the visitor may continue, uncounted. */
  | { outcome: "address-limit"; url: string; bot: LinkBot };

export interface ClickDeps {
  database: Database;
  bots: Bots;
  deliveries: Deliveries;
  campaigns: CampaignSnapshot;
  log: Pick<FastifyBaseLogger, "info" | "debug">;
  /** Limit of counted clicks of one address on one day (UTC); undefined: unlimited. */
  maxDailyClicksPerAddress?: number | undefined;
}

export interface Clicks extends ClickDeps {
  readonly usual: UsualClicks;
  readonly pendingUsers: PendingUsers;
  /** Simultaneous visits share one statement. */
  readonly following: CommitGroup<JudgedVisit, FollowedVisit>;
  /** Visits that wait for the last clicks of a campaign, by its id. */
  readonly lastClicks: Turns;
  /** A link can be opened any number of times: repeated lines say nothing new, and must not fill the log. */
  readonly lines: RateLimiter;
}

export function openClicks(deps: ClickDeps): Clicks {
  const memory = { usual: openUsualClicks(deps.database), pendingUsers: openPendingUsers() };
  const lines = rateLimiter({ quota: 3, windowSeconds: 60, maxKeys: 20_000 });
  const following = groupCommits<JudgedVisit, FollowedVisit>({
    name: "clicks",
    // The statement locks addresses in the order of the visits, and takes one visit of each address.
    orderBy: ({ hashes }) => hashes.today,
    oneAtATimeBy: ({ hashes }) => hashes.today,
    run: (batch) => followBatch({ ...deps, ...memory }, batch),
  });
  return { ...deps, ...memory, following, lastClicks: new Map(), lines };
}

/** Of simultaneous visits of one viewer, one is counted at a time; the others are judged again. */
const MAX_TRIES = 20;

/** Follows a link. The ad is chosen in memory; one statement decides which visit earns, and records it. */
export async function followDirectLink(clicks: Clicks, visit: Visit): Promise<FollowOutcome> {
  const { code, now } = visit;
  const bot = isCode(code) ? await findBotByPrefix(clicks.bots, codePrefixOf(code)) : undefined;
  if (!bot) return { outcome: "unknown-code" };
  const clickId = newClickId(now.getTime(), randomBytes(10));
  // Without a mini-app, Telegram provides no data about the visitor; the browser provides a little.
  const user = {
    language: languageOf(visit.acceptLanguage),
    platform: platformOf(visit.userAgent),
    country: visit.country,
  };
  const traceparent = currentTraceparent();
  let request: AdRequest = { format: "direct_link", bot, user, seen: new Map() };
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    const replacementCode =
      bot.payPerCode === "once" ? newCodeInPlaceOf(code, randomBytes(CODE_RANDOM_BYTES)) : undefined;
    const judged = { ...visit, clickId, request, replacementCode, traceparent };
    let followed = await clicks.following.submit(judged);
    if (followed.verdict.outcome === "near-limit" && followed.state) {
      followed = await followNearLimit(clicks, judged, followed.state);
    }
    const { verdict } = followed;
    if (verdict.outcome === "user-cap") {
      request = { ...request, seen: await seenBy(clicks, { botId: bot.botId, userId: verdict.userId }, now) };
    } else if (verdict.outcome !== "again" && verdict.outcome !== "near-limit") {
      logVisit(clicks, judged, { ...followed, verdict });
      return answerOf(judged, verdict, followed.state, bot, clicks.campaigns);
    }
  }
  throw new OverloadedError(`a visit was retried ${MAX_TRIES} times without a decision`);
}

/** One line for what a visit came to, with the ids that its event, its delivery and the publisher's ledger have. */
function logVisit(
  { log, lines }: Clicks,
  { clickId, request, now }: JudgedVisit,
  { verdict, userId, state }: Omit<FollowedVisit, "verdict"> & { verdict: DecidedVerdict },
): void {
  const { botId } = request.bot;
  const campaignId = state?.campaign.campaignId;
  const reason = refusalOf(verdict) ?? verdict.outcome;
  const ids = { botId, userId, clickId, campaignId };
  const logRefusal = () => {
    if (lines.take(`${botId} ${userId} ${reason}`, now.getTime()).isAllowed)
      log.info({ botId, userId, reason }, "a click is refused");
  };
  switch (verdict.outcome) {
    case "counted": {
      const facts = { ...ids, ...(verdict.isTest && { isTest: true }) };
      log.info({ ...facts, eventId: eventIdOfClick(clickId) }, "a click is paid");
      break;
    }
    case "held":
      log.info(ids, "a click is held for review");
      break;
    case "suspicious":
      log.info({ ...ids, reason }, "a click is refused");
      break;
    // These visits ask for no reward: they are by machines, or before the tap, or of an unknown code.
    case "machine":
    case "tap-needed":
    case "unknown-code":
      log.debug({ botId, userId, reason }, "a visit is not counted");
      break;
    case "used":
    case "limited":
    case "address-limit":
      logRefusal();
      break;
    default:
      verdict.outcome satisfies PlainRefusal;
      logRefusal();
  }
}

/** What the visitor sees. */
function answerOf(
  visit: JudgedVisit,
  verdict: DecidedVerdict,
  state: CampaignState | undefined,
  bot: LinkBot,
  campaigns: CampaignSnapshot,
): FollowOutcome {
  switch (verdict.outcome) {
    case "counted":
    // A suspicious click leads to its ad, too.
    case "held":
    case "suspicious":
      return { outcome: "landed", url: landingOf(visit, state?.campaign) };
    case "used": {
      // The code earned its click before: its visitor returns to the same ad.
      const campaign = verdict.campaignId === null ? undefined : campaigns.byId.get(verdict.campaignId)?.campaign;
      return campaign ? { outcome: "landed", url: landingOf(visit, campaign) } : { outcome: "used", bot };
    }
    case "limited":
      return { ...verdict, bot };
    case "address-limit":
      // The address reached its daily limit. The visitor may continue to the ad, which counts nothing.
      return { outcome: "address-limit", url: landingOf(visit, state?.campaign), bot };
    case "unknown-code":
    case "machine":
      return { outcome: verdict.outcome };
    case "tap-needed":
      return { outcome: "tap-needed", bot };
    default:
      return { outcome: refusalPages[verdict.outcome], bot };
  }
}

function landingOf({ code, clickId, request }: JudgedVisit, campaign: Campaign | undefined): string {
  if (!campaign?.landingUrl) throw new Error(`the campaign of a link has no landing page: ${campaign?.campaignId}`);
  return landingAddress(campaign.landingUrl, {
    click_id: clickId,
    code,
    bot_id: request.bot.botId,
    campaign_id: campaign.campaignId,
    creative_id: "",
  });
}

/** A visit's verdict, and the ad that was chosen for it. */
interface FollowedVisit extends FollowedClick {
  state: CampaignState | undefined;
}

type DecidedVerdict = Exclude<ClickVerdict, { outcome: "again" | "near-limit" | "user-cap" }>;

/** A chosen ad, reserved against its campaign's limits until it is known whether it counts. */
interface ChosenAd {
  state: CampaignState;
  isSerialized: boolean;
  release(): void;
}

type FollowingDeps = ClickDeps & Pick<Clicks, "usual" | "pendingUsers">;

async function followBatch(deps: FollowingDeps, batch: readonly JudgedVisit[]): Promise<FollowedVisit[]> {
  const ads = await chooseAds(deps, batch);
  const clicks = await Promise.all(batch.map((visit, index) => clickOf(deps, visit, ads[index])));
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

async function clickOf(deps: FollowingDeps, visit: JudgedVisit, ad: ChosenAd | undefined): Promise<Click> {
  const usualClicks = await usualClicksOf(deps.usual, visit.request.bot.botId, visit.now);
  return {
    visit,
    campaignId: ad?.state.campaign.campaignId,
    isNearLimit: ad?.isSerialized ?? false,
    network:
      visit.visitor.kind === "machine"
        ? { isStored: false, pending: noUsers }
        : takePending(deps.pendingUsers, networkKeyOf(visit)),
    usualClicks,
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
function followNearLimit(clicks: Clicks, visit: JudgedVisit, state: CampaignState): Promise<FollowedVisit> {
  const { database, campaigns, deliveries, lastClicks, maxDailyClicksPerAddress } = clicks;
  const { campaignId } = state.campaign;
  if (lastClicks.get(campaignId)?.length === MAX_WAITING)
    throw new OverloadedError(`${MAX_WAITING} clicks wait for one campaign`);
  return inTurn(lastClicks, campaignId, async () => {
    const click = { ...(await clickOf(clicks, visit, undefined)), campaignId };
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

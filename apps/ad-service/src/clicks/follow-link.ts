import { crc32 } from "node:zlib";
import { codePrefixOf, eventIdOfClick, isCode, newClickId } from "@intermission/ad-core/code";
import { type CommitGroup, groupCommits, OverloadedError } from "@intermission/postgres/group-commits";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import { rowParameters } from "@intermission/postgres/row-parameters";
import { inTurn, type Turns } from "@intermission/server/in-turn";
import { randomBytes } from "@intermission/server/random-bytes";
import type { Visitor } from "@intermission/server/visitor";
import type { CampaignSnapshot } from "../ad-selection/campaign-snapshot.ts";
import { type CampaignState, holdAd, isNearLimit, isSerialized } from "../ad-selection/campaign-state.ts";
import { chooseAd } from "../ad-selection/choose-ad.ts";
import { type AdRequest, languageOf, platformOf } from "../ad-selection/eligibility.ts";
import { askLimits, hasBudgetLeft, seenBy } from "../ad-selection/select-ad.ts";
import { type Bot, type Bots, type DeliveryMode, findBotByPrefix } from "../bots/bots.ts";
import { landingAddress } from "../campaigns/campaign-settings.ts";
import type { Campaign } from "../campaigns/campaigns.ts";
import { type ClaimedEvent, type Deliveries, LEASE_SECONDS, type MadeEvents } from "../deliveries/deliveries.ts";

export interface Visit {
  code: string;
  visitor: Visitor;
  /** The visitor tapped the button of our own page. */
  isTap: boolean;
  userAgent: string;
  acceptLanguage: string | undefined;
  hashes: AddressHashes;
  now: Date;
}

/** 128-bit hashes: of one address with the keys of two days, and of its network (/24, /48) with today's key. */
export interface AddressHashes {
  today: string;
  yesterday: string;
  network: string;
}

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
  /** Limit of counted clicks of one address on one day (UTC); undefined: unlimited. */
  mostDailyClicksPerAddress?: number | undefined;
}

export interface Clicks extends ClickDeps {
  /** Simultaneous visits share one statement. */
  readonly following: CommitGroup<JudgedVisit, FollowedLink>;
  /** Visits that wait for the last clicks of a campaign, by its id. */
  readonly lastClicks: Turns;
}

export function openClicks(deps: ClickDeps): Clicks {
  const following = groupCommits<JudgedVisit, FollowedLink>({
    store: deps.database.kind,
    // The statement locks addresses in the order of the visits, and takes one visit of each address.
    orderBy: ({ hashes }) => hashes.today,
    oneAtATimeBy: ({ hashes }) => hashes.today,
    run: (batch) => followBatch(deps, batch),
  });
  return { ...deps, following, lastClicks: new Map() };
}

/** Of simultaneous visits of one viewer, one is counted at a time; the others are judged again. */
const MOST_TRIES = 20;

/** Follows a link. The ad is chosen in memory; one statement decides which visit earns, and records it. */
export async function followDirectLink(clicks: Clicks, visit: Visit): Promise<FollowOutcome> {
  const { code, now } = visit;
  const bot = isCode(code) ? await findBotByPrefix(clicks.bots, codePrefixOf(code)) : undefined;
  if (!bot) return { outcome: "unknown-code" };
  const clickId = newClickId(now.getTime(), randomBytes(10));
  // Without a mini-app, Telegram provides no data about the visitor; the browser provides a little.
  const user = { language: languageOf(visit.acceptLanguage), platform: platformOf(visit.userAgent) };
  let request: AdRequest = { format: "direct_link", bot, user, seen: new Map() };
  for (let attempt = 1; attempt <= MOST_TRIES; attempt++) {
    const judged = { ...visit, clickId, request };
    let followed = await clicks.following.submit(judged);
    const { state } = followed;
    if (followed.outcome === "near-limit" && state) followed = await followLast(clicks, judged, state);
    const { outcome, userId } = followed;
    if (outcome === "user-cap" && userId !== null) {
      request = { ...request, seen: await seenBy(clicks, { botId: bot.botId, userId }, now) };
    } else if (outcome !== "again" && outcome !== "full") {
      return answerOf(judged, followed, bot, clicks.campaigns);
    }
  }
  throw new OverloadedError(`a visit was retried ${MOST_TRIES} times without a decision`);
}

/** What the visitor sees. */
function answerOf(
  visit: JudgedVisit,
  { outcome, availableAt, usedCampaignId, state }: FollowedLink,
  bot: LinkBot,
  campaigns: CampaignSnapshot,
): FollowOutcome {
  switch (outcome) {
    case "counted":
    // A suspicious click leads to its ad, too.
    case "held":
    case "suspicious":
      return { outcome: "landed", url: landingOf(visit, state?.campaign) };
    case "used": {
      // The code earned its click before: its visitor returns to the same ad.
      const campaign = usedCampaignId === null ? undefined : campaigns.byId.get(usedCampaignId)?.campaign;
      return campaign ? { outcome: "landed", url: landingOf(visit, campaign) } : { outcome: "used", bot };
    }
    case "cooldown":
    case "daily-cap":
      return { outcome: "limited", reason: outcome, availableAt: availableAt ?? visit.now, bot };
    case "address-limit":
      // The address reached its daily limit. The visitor may continue to the ad, which counts nothing.
      return { outcome, url: landingOf(visit, state?.campaign), bot };
    case "unknown-code":
      return { outcome };
    case "expired":
      return { outcome, bot };
    case "no-ad":
    case "bot-suspended":
      return { outcome: "no-ad", bot };
    default:
      if (outcome.startsWith("tap-asked-")) return { outcome: "tap-needed", bot };
      if (outcome.startsWith("machine-")) return { outcome: "machine" };
      throw new Error(`unexpected outcome of a visit: "${outcome}"`);
  }
}

function landingOf({ code, clickId, request }: JudgedVisit, campaign: Campaign | undefined): string {
  if (!campaign?.landingUrl) throw new Error(`the campaign of a link has no landing page: ${campaign?.campaignId}`);
  return landingAddress(campaign.landingUrl, {
    ...{ click_id: clickId, code, bot_id: request.bot.botId },
    ...{ campaign_id: campaign.campaignId, creative_id: "" },
  });
}

/** A visit, with everything that decides about it and is known outside the database. */
interface JudgedVisit extends Visit {
  clickId: string;
  /** The user for whom an ad is chosen. `seen` stays empty until a campaign's cap per user matters. */
  request: AdRequest;
}

/** The statement's result for a visit (`follow-links.sql` describes the outcomes), and the ad that was chosen for it. */
interface FollowedLink {
  outcome: string;
  availableAt: Date | null;
  usedCampaignId: string | null;
  userId: string | null;
  state: CampaignState | undefined;
}

/** A chosen ad, reserved against its campaign's limits until it is known whether it counts. */
interface ChosenAd {
  state: CampaignState;
  isSerialized: boolean;
  release(): void;
}

/** The result of a visit; or, with `url`, an event that this node claimed; or, for visit 0, that events wait for the loop. */
interface Row extends Omit<FollowedLink, "state"> {
  visit: number;
  body: string | null;
  url: string | null;
  deliveryMode: DeliveryMode | null;
}

const visits = rowParameters({
  ...{ bot: "text", code: "text", event: "text", time: "text", refusal: "text", doubt: "text", isTap: "boolean" },
  ...{ campaign: "text", isNearLimit: "boolean", agent: "text", agentKey: "integer" },
  ...{ address: "bytea", addressBefore: "bytea", network: "bytea" },
});

const follow = statement<Row>(
  "clicks.follow",
  `select visit, outcome, available_at as "availableAt", campaign_id as "usedCampaignId", user_id as "userId", body, url,
     delivery_mode as "deliveryMode"
   from follow_links(${visits.parameters.join(", ")},
     $${visits.parameters.length + 1}::integer, $${visits.parameters.length + 2}::integer, ${LEASE_SECONDS})`,
);

const LONGEST_AGENT = 256;

function rowOf({ request, code, clickId, now, visitor, isTap, userAgent, hashes }: JudgedVisit, ad?: ChosenAd) {
  const agent = userAgent.slice(0, LONGEST_AGENT);
  return {
    ...{ bot: request.bot.botId, code, event: eventIdOfClick(clickId), time: now.toISOString(), isTap },
    refusal: visitor.kind === "machine" ? `machine-${visitor.reason}` : null,
    doubt: visitor.kind === "doubtful" ? visitor.reason : null,
    ...{ campaign: ad?.state.campaign.campaignId, isNearLimit: ad?.isSerialized ?? false, agent },
    // Usable for one day: the seed derives from the hash of the address, which changes daily.
    agentKey: crc32(agent, Number.parseInt(hashes.today.slice(0, 8), 16)) | 0,
    ...{ address: hashes.today, addressBefore: hashes.yesterday, network: hashes.network },
  };
}

async function followBatch(deps: ClickDeps, batch: readonly JudgedVisit[]): Promise<FollowedLink[]> {
  const ads = await chooseAds(deps, batch);
  const followed = await deps.deliveries.sendNew(batch.length, (slots) =>
    runStatement(deps.database, batch, { ...deps, ads, slots }),
  );
  for (const [index, { outcome }] of followed.entries()) if (outcome !== "counted") ads[index]?.release();
  return followed;
}

/** Chooses an ad for each visit. If a campaign is near a limit, the database is queried first, once for all visits. */
async function chooseAds(deps: ClickDeps, batch: readonly JudgedVisit[]): Promise<(ChosenAd | undefined)[]> {
  const { campaigns } = deps;
  const asked = new Set<string>();
  for (;;) {
    const ads = batch.map((visit): ChosenAd | undefined => {
      if (visit.visitor.kind === "machine") return undefined;
      const choice = chooseAd(campaigns.index, visit.request, { now: visit.now, random: Math.random });
      if (choice.outcome === "no-ad") return undefined;
      const { state } = choice;
      const release = holdAd(campaigns, state.campaign.campaignId, "direct_link");
      return { state, isSerialized: isSerialized(state, "direct_link"), release };
    });
    const unasked = ads.find((ad) => ad && isNearLimit(ad.state, "direct_link") && !asked.has(idOf(ad)));
    if (unasked === undefined) return ads;
    for (const ad of ads) ad?.release();
    asked.add(idOf(unasked));
    await askLimits(deps.database, unasked.state, batch[0]?.now ?? new Date());
  }
}

const idOf = ({ state }: ChosenAd) => state.campaign.campaignId;

async function runStatement(
  database: Transaction,
  batch: readonly JudgedVisit[],
  of: { ads: readonly (ChosenAd | undefined)[]; slots: number; mostDailyClicksPerAddress?: number | undefined },
): Promise<MadeEvents<FollowedLink[]>> {
  const { ads, slots, mostDailyClicksPerAddress = null } = of;
  const rows = await database.run(follow, [
    ...visits.values(batch.map((visit, index) => rowOf(visit, ads[index]))),
    mostDailyClicksPerAddress,
    slots,
  ]);
  const result: FollowedLink[] = [];
  const claimed: ClaimedEvent[] = [];
  let areWaiting = false;
  for (const { visit, body, url, deliveryMode, ...followed } of rows) {
    if (visit === 0) {
      areWaiting = true;
      continue;
    }
    const index = visit - 1;
    const asked = batch[index];
    if (asked === undefined) throw new Error("the database returned a visit that was not requested");
    if (body !== null && url !== null && deliveryMode !== null) {
      const { botId } = asked.request.bot;
      claimed.push({ botId, eventId: eventIdOfClick(asked.clickId), body, url, deliveryMode });
    } else {
      result[index] = { ...followed, state: ads[index]?.state };
    }
  }
  return { result, areWaiting, claimed };
}

/** Visits that may wait for a campaign's last clicks on this node; further visitors must retry. */
const MOST_IN_LINE = 500;

/**
 * Follows the last links before a campaign's limit, one at a time: the transaction that counts a click also reads how
 * much is left, so that none is counted beyond the limit. The visits queue on this node, since in the database they
 * would wait for one another too, each with a connection that other requests need. "full": nothing was counted; choose
 * another ad.
 */
function followLast(clicks: Clicks, visit: JudgedVisit, state: CampaignState): Promise<FollowedLink> {
  const { database, campaigns, deliveries, lastClicks } = clicks;
  const { campaignId } = state.campaign;
  if (lastClicks.get(campaignId)?.length === MOST_IN_LINE)
    throw new OverloadedError(`${MOST_IN_LINE} clicks wait for one campaign`);
  return inTurn(lastClicks, campaignId, async () => {
    const ad = { state, isSerialized: false, release() {} };
    const followed = await database.transaction(async (tx) => {
      if (!(await hasBudgetLeft(tx, state, { format: "direct_link", now: visit.now }))) return undefined;
      const { result } = await runStatement(tx, [visit], { ...clicks, ads: [ad], slots: 0 });
      return result[0];
    });
    if (followed?.outcome === "counted") {
      holdAd(campaigns, campaignId, "direct_link");
      deliveries.wake();
    }
    return followed ?? { outcome: "full", availableAt: null, usedCampaignId: null, userId: null, state };
  });
}

import { isCode } from "@intermission/ad-core/code";
import type { Consent } from "@intermission/ad-core/consent";
import type { OpenSessionRefusal } from "@intermission/ad-core/player-api";
import type { Bot } from "@intermission/operator-api/bots";
import type { ViewFormat } from "@intermission/operator-api/campaign-words";
import type { NoAdReason } from "@intermission/operator-api/report-figures";
import { type CommitGroup, OverloadedError } from "@intermission/postgres/group-commits";
import { hasCreditLeft } from "../ad-selection/bought-budget.ts";
import type { CampaignSnapshot } from "../ad-selection/campaign-snapshot.ts";
import { adsBehindPlan, type CampaignState, isSerialized } from "../ad-selection/campaign-state.ts";
import { drawCreative } from "../ad-selection/choose-ad.ts";
import type { AdRequest } from "../ad-selection/eligibility.ts";
import { hasBudgetLeft, holdWithinLimits, selectAd, type UserAdRequest } from "../ad-selection/select-ad.ts";
import { expiryOf, randomCode } from "../codes/issue-code.ts";
import { canPlay, type Device } from "../creatives/choose-rendition.ts";
import {
  admitCreative,
  isDisapproved,
  meetCreative,
  seenCreative,
  takeBackCreative,
} from "../demand/bought-creatives.ts";
import type { Demand } from "../demand/demand.ts";
import type { BidOpening } from "../demand/openrtb/bid-request.ts";
import { takeBid } from "../demand/take-bid.ts";
import {
  type Auction,
  buyersFor,
  compareOwn,
  concludeAuction,
  decideBid,
  dropTaken,
  nameWinner,
  openAuction,
  refuseTaken,
} from "../offers/auction.ts";
import { isSponsorship, type Offer, orderOffers } from "../offers/order-offers.ts";
import { countTry, type Sources } from "../offers/source-records.ts";
import { mayGoBefore, orderTags, tagsToOrder, worthOf } from "../offers/tag-order.ts";
import { fillFromTag, readTag, type Tags } from "../vast/fill-from-tag.ts";
import { enqueueTrackerCalls } from "../vast/trackers.ts";
import type { VastAd } from "../vast/vast-ad.ts";
import { audienceOf, audienceText } from "../viewers/audience.ts";
import type { ViewerLimit } from "../viewers/limit-of-viewer.ts";
import { readConsent } from "../viewers/viewer-consents.ts";
import { nextSequence } from "./accept-progress.ts";
import { type AdView, latest } from "./ad-view.ts";
import { beginViews, type NewView, type ViewTerms } from "./begin-views.ts";
import { type Ad, type AdRows, findAd, findChosenAd } from "./find-ad.ts";
import { isTooOld } from "./offer-age.ts";
import type { Opening, OpeningQuestion } from "./read-opening.ts";
import { isBroken, isFaultLasting } from "./record-fault.ts";
import { hashSessionToken } from "./session-token.ts";
import { endingOf } from "./view-ending.ts";
import { newViewId } from "./view-ids.ts";
import { changeView, rememberView, type Views } from "./views.ts";

export interface EnterViewDeps {
  views: Views;
  ads: AdRows;
  /** Concurrent openings share a query. */
  reading: CommitGroup<OpeningQuestion, Opening>;
  /** Views that begin at the same time share a commit. */
  beginning: CommitGroup<NewView, AdView | undefined>;
  campaigns: CampaignSnapshot;
  tags: Tags;
  /** Buyers, which are requested where some are on; undefined: nothing is bought. */
  demand?: Demand | undefined;
  /** What VAST tags have earned; undefined: they are drawn by weight. */
  sources?: Sources | undefined;
}

/** What a route passes for each opening. */
export interface OpeningInput {
  /** The playing device: each opening chooses the video file for it. */
  device: Device;
  /** Numbers in [0, 1), for the choice of the ad. */
  random: () => number;
  /** Of the id of a view that begins. */
  viewRandom: string;
  token: string;
  /** The id of the event, if this opening closes a watched view. */
  eventId: string;
  now: Date;
}

export interface EnterViewInput extends OpeningInput {
  userId: string;
  /** The code that the app was opened with. */
  requestedCode: string | undefined;
  /** The publisher's own `startapp` value of this launch. */
  startParam: string | undefined;
  /** The page's note about this ad. */
  clientNote: string | undefined;
  /** As Telegram signed it; undefined for a launch by an app grant. */
  initData: string | undefined;
  /** The launch data is too old to begin a view. */
  mustContinue: boolean;
  bot: Bot;
  ad: Omit<UserAdRequest, "seen" | "format"> & { format: ViewFormat };
  userAgent: string;
  /** The viewer's. */
  address?: string | undefined;
  consent?: Consent | undefined;
  isTest: boolean;
}

type Refusal =
  | { outcome: "no-ad"; reason: NoAdReason }
  | Extract<ViewerLimit, { outcome: "limited" }>
  | { outcome: "refused"; reason: OpenSessionRefusal };
/** `joinTitle`: the channel or group that the view lets its viewer into. */
type Entered = { outcome: "entered"; view: AdView; ad: Ad; joinTitle: string | null };
/** The state that the decision was based on has changed. */
type Changed = { outcome: "changed" };
/** The code has earned the only event that its bot pays per code. */
type Spent = { outcome: "spent" };

export type EnterViewOutcome = Entered | Refusal;

/** Of concurrent openings of one viewer, one at a time begins its view; the others read again and retry. */
const MAX_TRIES = 20;
/** The total for all tags of one opening, since a viewer is waiting. */
const TAGS_MS = 5000;
const MAX_TAGS = 3;

/**
 * Continues the single view of a code, or begins it, with one read and one write. The token of an earlier opening becomes
 * invalid. If a VAST tag is chosen it is requested, and if it returns no ad, another ad is chosen without it.
 *
 * A code whose click was paid earns nothing more if its bot pays codes once: the app then opens as if it was launched without
 * that code, so that no ad is shown that cannot be paid.
 */
export async function enterView(deps: EnterViewDeps, input: EnterViewInput): Promise<EnterViewOutcome> {
  const { now } = input;
  let { requestedCode } = input;
  if (requestedCode !== undefined && !isCode(requestedCode)) return refused("CODE_MALFORMED");
  const { botId } = input.bot;
  const tried: TriedTags = {
    endsAt: performance.now() + TAGS_MS,
    failed: new Set(),
    unplayable: new Set(),
    filled: undefined,
    auction: undefined,
    failedBids: 0,
    plan: undefined,
    requested: new Set(),
  };
  const seconds = deps.campaigns.index.userCapSeconds;
  const seenSince = seconds === undefined ? undefined : new Date(now.getTime() - seconds * 1000);
  try {
    for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
      const { userId, mustContinue } = input;
      const { format } = input.ad;
      const question = { botId, userId, code: requestedCode, mustContinue, format, seenSince, now };
      const opening = await deps.reading.submit(question);
      const entered = await enter(deps, opening, { ...input, requestedCode }, tried);
      if (entered.outcome === "spent") requestedCode = undefined;
      else if (entered.outcome !== "changed") return entered;
    }
  } finally {
    if (deps.demand && tried.auction) await concludeAuction(deps.demand, tried.auction, now);
  }
  throw new OverloadedError(`an opening lost ${MAX_TRIES} races`);
}

async function enter(
  deps: EnterViewDeps,
  opening: Opening,
  input: EnterViewInput,
  tried: TriedTags,
): Promise<EnterViewOutcome | Changed | Spent> {
  const { code, view, limit } = opening;
  const { now, requestedCode } = input;
  if (!code && input.mustContinue) return refused("INIT_DATA_EXPIRED");
  if (!code && requestedCode !== undefined) return refused("CODE_UNKNOWN");
  if (code && code.userId !== input.userId) return refused("CODE_OF_ANOTHER_USER");
  // The code of an interstitial is no code that an app is opened with.
  if (view && view.format !== input.ad.format) return refused("CODE_UNKNOWN");
  if (!view && input.mustContinue) return refused("INIT_DATA_EXPIRED");
  // Less than a second was accepted of a broken ad, and nothing of an offer whose video is no longer approved: its code begins a new view, without
  // that video. An offer that is too old is chosen anew.
  const isUnapproved = view !== undefined && (await isUnapprovedOffer(deps, view, opening.vastAd));
  const isStale = view !== undefined && isTooOld(view, opening.vastAd, now);
  const isOver = isUnapproved || isStale || (view !== undefined && isBroken(view, now));
  const broken = isOver && view && now <= view.deadline ? view : undefined;
  if (view && !broken) return continueView(deps, view, opening, input);
  if (code?.isFollowed && input.bot.payPerCode === "once") return { outcome: "spent" };
  if (code?.isRewarded) return refused("CODE_USED");
  if (code && code.expiresAt <= now && !broken) return refused("CODE_EXPIRED");
  if (limit.outcome === "limited") return limit;
  const failed = broken && !isStale ? [broken.creativeId] : [];
  const begun = await beginView(deps, { opening, broken, failed }, input, tried);
  // The failed video may load later: if there is no other ad, the same one is better than none.
  const isAgain =
    begun.outcome === "no-ad" && broken !== undefined && !isFaultLasting(broken) && !isUnapproved && !isStale;
  return isAgain ? continueView(deps, broken, opening, input) : begun;
}

async function isUnapprovedOffer(
  { campaigns, views }: EnterViewDeps,
  { state, campaignId, creativeId }: Pick<AdView, "state" | "campaignId" | "creativeId">,
  vastAd: VastAd | undefined,
): Promise<boolean> {
  if (state !== "opened") return false;
  const { boughtCreativeId } = vastAd?.bought ?? {};
  if (boughtCreativeId !== undefined) return isDisapproved(views.database, boughtCreativeId);
  const creatives = campaigns.byId.get(campaignId)?.campaign.creatives ?? [];
  return creatives.some((one) => one.creativeId === creativeId && !one.isApproved);
}

async function continueView(
  { views, ads }: EnterViewDeps,
  view: AdView,
  { code, limit, vastAd }: Opening,
  { startParam, clientNote, token, eventId, device, now }: EnterViewInput,
): Promise<EnterViewOutcome | Changed> {
  const isUnfinished = view.state === "opened" || view.state === "playing";
  if (isUnfinished && now > view.deadline) return refused("CODE_EXPIRED");
  // A view that is over may be kept longer than its ad.
  if (view.isVast && !vastAd) return refused("CODE_EXPIRED");
  // An offer that was not started reserves nothing: the viewer may have earned elsewhere since.
  if (view.state === "opened" && limit.outcome === "limited") return limit;
  const pending = view.pendingReports ?? [];
  const change =
    view.state === "watched"
      ? await endingOf(views, view, { reason: "reopened", eventId, now })
      : { before: view, after: view, isStart: false, milestones: [], now };
  const after: AdView = {
    ...change.after,
    tokenHash: hashSessionToken(token),
    openings: view.openings + 1,
    ...(isUnfinished && startParam !== undefined && { startParam }),
    ...(isUnfinished && clientNote !== undefined && { clientNote }),
    firstSequence: Math.max(nextSequence(view.progress), ...pending.map(({ sequence }) => sequence + 1)),
    // The viewer is back, so a close that waits for its reports is withdrawn, unless they are here and wait for the clock.
    // The page plays from now on, and the time before is credited to no view.
    ...(isUnfinished &&
      pending.length === 0 && {
        closeRequestedAt: null,
        closeReason: null,
        creditedUntil: latest(view.creditedUntil, now),
      }),
  };
  const changed = await changeView(views, { ...change, after });
  if (changed.outcome !== "stored") return { outcome: "changed" };
  const ad = await findAd(ads, view, { vastAd, device });
  return { outcome: "entered", view: changed.view, ad, joinTitle: code?.joinTitle ?? null };
}

/** What the attempts to begin one view have found out. */
const MAX_FAILED_BIDS = 3;
/** For the markup of one bid, with what it wraps. */
const MARKUP_MS = 1500;

interface TriedTags {
  endsAt: number;
  failed: Set<string>;
  /** Creatives of which the device plays no file. */
  unplayable: Set<string>;
  /** The ad that a tag or a bid came to. It is kept for further attempts to begin the view. */
  filled: PlayableAd | undefined;
  /** What the buyers said: they are requested once. */
  auction: Auction | undefined;
  /** Bids whose markup could not be shown. */
  failedBids: number;
  /**
   * The campaigns of tags that are still to be requested, in their order, as long as this is certain without them: planned anew
   * once a bid could not be shown.
   */
  plan: { campaignIds: string[]; certainMicros: number } | undefined;
  /** The campaigns of tags that were requested. */
  requested: Set<string>;
}

/** An ad that the device plays. */
interface PlayableAd {
  outcome: "chosen";
  campaignId: string;
  creativeId: string;
  vastAd: VastAd | undefined;
  /** Of a bought ad. */
  priceMicros: number | null;
  durationMs: number;
  /** Of its campaign, against whose limits the ad is held. */
  state: CampaignState;
}

type NoAd = Extract<Refusal, { outcome: "no-ad" }>;

async function beginView(
  deps: EnterViewDeps,
  { opening, broken, failed }: { opening: Opening; broken: AdView | undefined; failed: readonly string[] },
  input: EnterViewInput,
  tried: TriedTags,
): Promise<EnterViewOutcome | Changed> {
  const { views, ads } = deps;
  const { device, now, startParam = null, clientNote = null } = input;
  const failedCreatives = [...new Set([...(broken?.failedCreatives ?? []), ...failed])];
  const code = opening.code ?? newCodeOf(input);
  const viewId = newViewId(code, input.viewRandom);
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    const chosen = await choosePlayableAd(deps, { input, viewId, failedCreatives, seen: opening.seen }, tried);
    if (chosen.outcome === "no-ad") return chosen;
    if (chosen.outcome === "again") continue;
    const { campaignId, creativeId, durationMs, vastAd, priceMicros, state } = chosen;
    const view: NewView = {
      code,
      startParam,
      clientNote,
      initData: input.isTest || (priceMicros ?? state.campaign.viewPriceMicros) === 0 ? undefined : input.initData,
      viewId,
      tokenHash: hashSessionToken(input.token),
      campaignId,
      creativeId,
      durationMs,
      vastAd,
      terms: termsOf(input.ad.format, state.campaign),
      priceMicros,
      isTest: input.isTest,
      audience: audienceText(input.ad.user),
      failedCreatives,
      broken,
      viewer: opening.viewer,
      now,
    };
    const begun = await storeNewView(deps, view, state);
    if (begun === "limit-reached" || begun === "unreviewed") {
      tried.filled = undefined;
      if (tried.auction && begun === "limit-reached") dropTaken(tried.auction);
      if (tried.auction && begun === "unreviewed") refuseTaken(tried.auction, begun);
      continue;
    }
    if (!begun) return { outcome: "changed" };
    if (tried.auction) nameWinner(tried.auction);
    rememberView(views, begun);
    const ad = await findAd(ads, begun, { vastAd, device });
    return { outcome: "entered", view: begun, ad, joinTitle: opening.code?.joinTitle ?? null };
  }
  return noneFits;
}

const noneFits: NoAd = { outcome: "no-ad", reason: "none-fits" };

/**
 * Chooses an ad once. `again`: the chosen creative cannot be played on the device, or its VAST tag returned no ad. It was
 * added to `tried`; choose again.
 */
async function choosePlayableAd(
  deps: EnterViewDeps,
  question: { input: EnterViewInput; viewId: string; failedCreatives: readonly string[]; seen: Opening["seen"] },
  tried: TriedTags,
): Promise<PlayableAd | NoAd | { outcome: "again" }> {
  const { views, ads } = deps;
  const { input, viewId, failedCreatives, seen } = question;
  if (tried.filled) return tried.filled;
  const without = new Set([...(input.ad.without ?? []), ...failedCreatives, ...tried.failed, ...tried.unplayable]);
  const { database } = views;
  const { now } = input;
  const request = { ...input.ad, without, seen };
  // What tags earn is known of rewarded views alone.
  const tags =
    deps.sources && input.ad.format === "rewarded" ? tagsToOrder(deps.sources, deps.campaigns, request, now) : [];
  const taken = new Set(without);
  for (const { campaign } of tags) for (const { creativeId } of campaign.creatives) without.add(creativeId);
  const choice = await selectAd({ database, campaigns: deps.campaigns }, request, input);
  if (tags.length > 0 || (deps.demand && deps.campaigns.buyers.length > 0)) {
    const own = choice.outcome === "chosen" ? choice.state : undefined;
    const better = await takeBetter(deps, { input, viewId, request, tags, taken, own }, tried);
    if (better && choice.outcome === "chosen") choice.release();
    if (better) return better;
    if (choice.outcome === "no-ad" && tried.auction) tried.auction.own = { outcome: choice.reason, cpmMicros: null };
  }
  if (choice.outcome === "no-ad") return choice;
  if (!choice.creative) return noneFits;
  const { state } = choice;
  const { campaignId } = state.campaign;
  const { creativeId } = choice.creative;
  const found = await findChosenAd(ads, { campaignId, creativeId }, input.device);
  views.seen.set(creativeId, { framesBySecond: found.row.framesBySecond });
  if (found.kind === "video") {
    const { mediaType, durationMs } = found.ad;
    if (canPlay(input.device, mediaType))
      return { outcome: "chosen", campaignId, creativeId, vastAd: undefined, priceMicros: null, durationMs, state };
    tried.unplayable.add(creativeId);
    return { outcome: "again" };
  }
  const vastAd = await askTag(deps, input, { campaignId, creativeId, viewId, url: found.url }, tried);
  if (!vastAd) {
    tried.failed.add(creativeId);
    return { outcome: "again" };
  }
  const { durationMs } = vastAd;
  tried.filled = { outcome: "chosen", campaignId, creativeId, vastAd, priceMicros: null, durationMs, state };
  return tried.filled;
}

interface OfferQuestion {
  input: EnterViewInput;
  viewId: string;
  request: AdRequest;
  /** The campaigns of tags that are not drawn by weight. */
  tags: readonly CampaignState[];
  /** Creatives that are not shown in this opening. */
  taken: ReadonlySet<string>;
  /** What the choice among the others came to. */
  own: CampaignState | undefined;
}

/**
 * Takes what is worth more than the own choice: a tag that is expected to earn more, or the best bid. Undefined: nothing is. The
 * buyers are requested unless a sponsorship goes first.
 */
async function takeBetter(
  deps: EnterViewDeps,
  question: OfferQuestion,
  tried: TriedTags,
): Promise<PlayableAd | { outcome: "again" } | undefined> {
  const { campaigns, demand } = deps;
  const { input, tags } = question;
  const own = question.own && ownOffer(campaigns, question.own, input);
  if (own && isSponsorship(own)) return undefined;
  if (demand && !tried.auction && campaigns.buyers.length > 0)
    tried.auction = await askBuyers(deps, demand, question, tried);
  const { auction } = tried;
  const worth = (offer: Offer) => worthOf(deps.sources, question.request, offer);
  const [first] = orderOffers([...(own ? [own] : []), ...(auction?.left ?? [])], worth);
  if (auction && own) compareOwn(auction, own, first === own);
  const moment = { now: input.now, curve: campaigns.index.curve };
  const of = { certainMicros: first ? worth(first) / 1000 : 0, tags: mayGoBefore(tags, question.own, moment) };
  const tag = of.tags.length > 0 ? await takeTag(deps, { ...question, ...of }, tried) : undefined;
  if (tag || first?.source !== "buyer" || !demand || !auction) return tag;
  return takeBoughtAd(deps, { demand, auction, first }, input, tried);
}

async function askBuyers(
  { campaigns, views }: EnterViewDeps,
  demand: Demand,
  { input, viewId, request }: OfferQuestion,
  { endsAt }: TriedTags,
): Promise<Auction | undefined> {
  const buyers = buyersFor(campaigns, request, { format: input.ad.format, now: input.now });
  if (buyers.length === 0) return undefined;
  const { bot, userId, now } = input;
  const consent = input.consent ?? (await readConsent(views.database, { botId: bot.botId, userId, now }));
  const opening = { ...bidOpening(viewId, input), consent };
  return openAuction(demand, buyers, { opening, leftMs: endsAt - performance.now() });
}

/** Requests the next tag of the order. Undefined: none is left, or none is expected to earn more than what is certain. */
async function takeTag(
  deps: EnterViewDeps,
  { input, viewId, request, tags, taken, certainMicros }: OfferQuestion & { certainMicros: number },
  tried: TriedTags,
): Promise<PlayableAd | { outcome: "again" } | undefined> {
  const { views, ads, campaigns, sources } = deps;
  if (!sources) return undefined;
  if (tried.plan?.certainMicros !== certainMicros) {
    const left = tags.filter(({ campaign }) => !tried.requested.has(campaign.campaignId));
    const of = { certainMicros, atMost: MAX_TAGS - tried.requested.size, random: input.random };
    tried.plan = { certainMicros, campaignIds: orderTags(sources, left, request, of) };
  }
  const campaignId = tried.plan.campaignIds.shift();
  if (campaignId === undefined) return undefined;
  const state = tags.find(({ campaign }) => campaign.campaignId === campaignId);
  const { now, device } = input;
  const creative = state && drawCreative(state, { ...request, without: taken }, input.random);
  if (!state || !creative) return { outcome: "again" };
  const release = await holdWithinLimits({ database: views.database, campaigns }, state, { format: "rewarded", now });
  if (!release) return { outcome: "again" };
  tried.requested.add(campaignId);
  const { creativeId } = creative;
  const found = await findChosenAd(ads, { campaignId, creativeId }, device);
  views.seen.set(creativeId, { framesBySecond: found.row.framesBySecond });
  const vastAd =
    found.kind === "video"
      ? undefined
      : await askTag(deps, input, { campaignId, creativeId, viewId, url: found.url }, tried);
  if (!vastAd) {
    release();
    tried.failed.add(creativeId);
    return { outcome: "again" };
  }
  if (tried.auction) compareOwn(tried.auction, { source: "own", state, behindPlan: undefined }, true);
  const { durationMs } = vastAd;
  tried.filled = { outcome: "chosen", campaignId, creativeId, vastAd, priceMicros: null, durationMs, state };
  return tried.filled;
}

async function takeBoughtAd(
  deps: EnterViewDeps,
  { demand, auction, first }: { demand: Demand; auction: Auction; first: Extract<Offer, { source: "buyer" }> },
  input: EnterViewInput,
  tried: TriedTags,
): Promise<PlayableAd | { outcome: "again" }> {
  const { campaigns, tags } = deps;
  const {
    bot: { botId },
    userAgent,
    device,
    now,
  } = input;
  const { campaignId, creativeId } = first.answer.buyer;
  const state = campaigns.byId.get(campaignId);
  const viewer = { botId, creativeId, viewId: auction.opening.requestId, userAgent, device };
  const totalMs = Math.min(tried.endsAt - performance.now(), MARKUP_MS);
  const read = await takeBid((source) => readTag(tags, { ...viewer, totalMs, ...source }), {
    ...first,
    currency: demand.seller.currency,
    now,
  });
  const taken = read.outcome === "ad" && !input.isTest ? await judgeTaken(deps, first, { ad: read.ad, now }) : read;
  decideBid(auction, first, taken);
  // The time and the attempts that are left are those of the own ads.
  if (taken.outcome !== "ad" && ++tried.failedBids >= MAX_FAILED_BIDS) auction.left = [];
  if (taken.outcome !== "ad" || !state) return { outcome: "again" };
  const { ad: vastAd } = taken;
  const bought = { campaignId, creativeId, vastAd, durationMs: vastAd.durationMs, state };
  tried.filled = { outcome: "chosen", ...bought, priceMicros: vastAd.bought?.priceMicros ?? null };
  return tried.filled;
}

/** Whether a bid's creative may be shown, reviewed or not. */
async function judgeTaken(
  { views: { database } }: EnterViewDeps,
  { answer: { buyer }, fit: { bid } }: Extract<Offer, { source: "buyer" }>,
  { ad, now }: { ad: VastAd; now: Date },
) {
  const seen = seenCreative(buyer.buyerId, bid, ad);
  const { boughtCreativeId } = seen;
  const verdict = await meetCreative(database, seen, { ...buyer, bid, ad, now });
  if (verdict === "unreviewed" || verdict === "disapproved")
    return { outcome: verdict, detail: `creative ${boughtCreativeId}` } as const;
  const bought = ad.bought && { ...ad.bought, boughtCreativeId };
  return { outcome: "ad", ad: { ...ad, ...(bought && { bought }) } } as const;
}

function ownOffer({ index }: CampaignSnapshot, state: CampaignState, { ad, now }: EnterViewInput): Offer {
  const behindPlan = adsBehindPlan(state, ad.format, { now, curve: index.curve });
  return { source: "own", state, behindPlan };
}

function bidOpening(
  viewId: string,
  { bot, userId, userAgent, ad, address, isTest }: EnterViewInput,
): Omit<BidOpening, "consent"> {
  const { language, country, isPremium = false } = ad.user;
  return {
    format: ad.format,
    requestId: viewId,
    botId: bot.botId,
    botName: bot.name,
    userId,
    userAgent,
    language,
    country,
    isPremium,
    address,
    isTest,
  };
}

/** Undefined: the viewer or the code changed meanwhile. */
async function storeNewView(
  { views: { database }, beginning }: EnterViewDeps,
  view: NewView,
  state: CampaignState,
): Promise<AdView | "limit-reached" | "unreviewed" | undefined> {
  const { vastAd, isTest, now } = view;
  const { format } = view.terms;
  const hasNotice = vastAd?.trackers.win !== undefined && !isTest;
  const isLimited = isSerialized(state, format);
  const { boughtCreativeId } = vastAd?.bought ?? {};
  if (!isLimited && !hasNotice && boughtCreativeId === undefined) return beginning.submit(view);
  return database.transaction(async (tx) => {
    if (isLimited && !(await hasBudgetLeft(tx, state, { format, now }))) return "limit-reached";
    if (vastAd?.bought && !isTest && !(await hasCreditLeft(tx, state, { ...vastAd.bought, now })))
      return "limit-reached";
    if (boughtCreativeId !== undefined && !(await admitCreative(tx, boughtCreativeId, now))) return "unreviewed";
    const [begun] = await beginViews(tx, [view]);
    if (!begun && boughtCreativeId !== undefined) await takeBackCreative(tx, boughtCreativeId);
    // The notice of the win commits with the view that is offered: neither is without the other.
    if (begun && hasNotice) await enqueueTrackerCalls(tx, begun, { events: ["win"], playheadMs: 0, now });
    return begun;
  });
}

async function askTag(
  { tags, sources }: EnterViewDeps,
  { bot: { botId }, userAgent, device, ad: { user, format }, isTest }: EnterViewInput,
  { campaignId, creativeId, viewId, url }: Record<"campaignId" | "creativeId" | "viewId" | "url", string>,
  { endsAt, failed }: TriedTags,
): Promise<VastAd | undefined> {
  const totalMs = endsAt - performance.now();
  if (totalMs <= 0 || failed.size >= MAX_TAGS) return undefined;
  const vastAd = await fillFromTag(tags, { botId, creativeId, url, viewId, userAgent, device, totalMs });
  // What testers see earns nothing, and other formats are not ordered.
  if (sources && !isTest && format === "rewarded")
    countTry(sources, { botId, country: audienceOf(user).country, campaignId }, vastAd !== undefined);
  return vastAd;
}

/**
 * Stored by the statement that begins the view, so that a user who may not earn leaves no rows. The code of an interstitial is
 * never issued: it names the view, and earns nothing else.
 */
function newCodeOf({ bot, userId, ad, now }: EnterViewInput): NewView["code"] {
  const expiresAt = expiryOf(now, bot.codeLifetimeSeconds);
  const code = { botId: bot.botId, userId, code: randomCode(bot.codePrefix, now), reference: "", expiresAt };
  return ad.format === "interstitial" ? code : { ...code, issuedAt: now };
}

/** A campaign that says nothing charges when the ad may be skipped, and never for less than a second. */
function termsOf(format: ViewFormat, { skipAfterSeconds, chargedAfterSeconds }: CampaignState["campaign"]): ViewTerms {
  if (format === "rewarded") return { format, skipAfterMs: null, chargedAfterMs: null };
  const chargedAfterMs = 1000 * Math.max(1, chargedAfterSeconds ?? skipAfterSeconds);
  return { format, skipAfterMs: 1000 * skipAfterSeconds, chargedAfterMs };
}

export function refused(reason: OpenSessionRefusal): { outcome: "refused"; reason: OpenSessionRefusal } {
  return { outcome: "refused", reason };
}

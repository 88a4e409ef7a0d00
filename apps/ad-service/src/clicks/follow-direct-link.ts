import {
  CODE_RANDOM_BYTES,
  codePrefixOf,
  eventIdOfClick,
  isCode,
  newClickId,
  newCodeInPlaceOf,
} from "@intermission/ad-core/code";
import type { ViewerLimitReason } from "@intermission/ad-core/wire-fields";
import type { Bot } from "@intermission/operator-api/bots";
import type { Campaign } from "@intermission/operator-api/campaigns";
import { type CommitGroup, groupCommits, OverloadedError } from "@intermission/postgres/group-commits";
import type { Turns } from "@intermission/server/in-turn";
import { randomBytes } from "@intermission/server/random-bytes";
import { type RateLimiter, rateLimiter } from "@intermission/server/rate-limiter";
import { currentTraceparent } from "@intermission/server/trace-context";
import type { CampaignSnapshot } from "../ad-selection/campaign-snapshot.ts";
import type { CampaignState } from "../ad-selection/campaign-state.ts";
import { type AdRequest, languageOf, platformOf } from "../ad-selection/eligibility.ts";
import { seenBy } from "../ad-selection/select-ad.ts";
import { findBotByPrefix } from "../bots/bots.ts";
import { landingAddress } from "../campaigns/campaign-settings.ts";
import { type ClickVerdict, type PlainRefusal, refusalOf, refusalPages } from "./click-verdict.ts";
import {
  type ClickDeps,
  type FollowedVisit,
  type FollowingDeps,
  followBatch,
  followNearLimit,
} from "./follow-visits.ts";
import { openPendingUsers } from "./network-users.ts";
import { hasEarnedMeanwhile } from "./record-clicks.ts";
import { openUsualClicks } from "./usual-clicks.ts";
import type { JudgedVisit, Visit } from "./visit.ts";

export type LinkBot = Pick<Bot, "name" | "username">;

export type FollowOutcome =
  | { outcome: "landed"; url: string }
  | { outcome: "tap-needed"; bot: LinkBot }
  | { outcome: "machine" }
  | { outcome: "unknown-code" }
  | { outcome: "expired"; bot: LinkBot }
  | { outcome: "used"; bot: LinkBot }
  | { outcome: "limited"; reason: ViewerLimitReason; availableAt: Date; bot: LinkBot }
  | { outcome: "no-ad"; bot: LinkBot }
  /** `url`: where the visitor may continue, uncounted. */
  | { outcome: "address-limit"; url: string; bot: LinkBot };

export interface Clicks extends FollowingDeps {
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

/** Follows a link. The ad is chosen in memory; visits that come at the same time are judged and stored together. */
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
    const followed = await follow(clicks, judged);
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

const again: FollowedVisit = { verdict: { outcome: "again" }, userId: null, addsUser: false, state: undefined };

async function follow(clicks: Clicks, visit: JudgedVisit): Promise<FollowedVisit> {
  try {
    const followed = await clicks.following.submit(visit);
    if (followed.verdict.outcome !== "near-limit" || !followed.state) return followed;
    return await followNearLimit(clicks, visit, followed.state);
  } catch (error) {
    if (hasEarnedMeanwhile(error)) return again;
    throw error;
  }
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
    // A link shows no creative: the erid of its text stands in the address itself.
    creative_id: "",
    erid: "",
  });
}

type DecidedVerdict = Exclude<ClickVerdict, { outcome: "again" | "near-limit" | "user-cap" }>;

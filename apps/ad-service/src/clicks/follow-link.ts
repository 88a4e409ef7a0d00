import { codePrefixOf, isCode, newClickId } from "@intermission/ad-core/code";
import { OverloadedError } from "@intermission/postgres/group-commits";
import type { ClientNetworks } from "@intermission/server/client-address";
import { randomBytes } from "@intermission/server/random-bytes";
import type { Visitor } from "@intermission/server/visitor";
import { type AdRequest, languageOf, platformOf } from "../ad-selection/eligibility.ts";
import { seenBy } from "../ad-selection/select-ad.ts";
import { findBotByPrefix } from "../bots/bots.ts";
import type { Campaign } from "../campaigns/campaigns.ts";
import { landingAddress } from "../campaigns/landing-url.ts";
import {
  type AddressHasher,
  type FollowedLink,
  type FollowLinksDeps,
  type JudgedVisit,
  linkFollower,
} from "./follow-links.ts";

export interface Visit {
  code: string;
  visitor: Visitor;
  /** The visitor tapped the button of our own page. */
  isTap: boolean;
  userAgent: string;
  acceptLanguage: string | undefined;
  client: ClientNetworks;
  now: Date;
}

export interface LinkBot {
  name: string;
  username: string | null;
}

export type FollowOutcome =
  | { outcome: "landed"; url: string }
  | { outcome: "tap-needed"; code: string; bot: LinkBot }
  | { outcome: "machine" }
  | { outcome: "unknown-code" }
  | { outcome: "expired"; bot: LinkBot }
  | { outcome: "used"; bot: LinkBot }
  | { outcome: "limited"; reason: "cooldown" | "daily-cap"; availableAt: Date; bot: LinkBot }
  | { outcome: "no-ad"; bot: LinkBot }
  /** `url`: where the visitor may continue, uncounted. */
  | { outcome: "address-limit"; url: string; bot: LinkBot };

export type FollowDirectLink = (visit: Visit) => Promise<FollowOutcome>;

const LONGEST_AGENT = 256;
/** Of simultaneous visits of one viewer, one is counted at a time; the others are judged again. */
const MOST_TRIES = 20;

/** Follows links. The ad is chosen in memory; one statement decides which visit earns, and records it. */
export function directLinkFollower(deps: FollowLinksDeps & { hashAddress: AddressHasher }): FollowDirectLink {
  const { database, campaigns, hashAddress } = deps;
  const followLink = linkFollower(deps);

  return async (visit) => {
    const { code, visitor, isTap, now } = visit;
    const bot = isCode(code) ? await findBotByPrefix(database, codePrefixOf(code)) : undefined;
    if (!bot) return { outcome: "unknown-code" };
    const judged = {
      ...{ code, visitor, isTap, now, hashes: hashAddress(visit.client, now) },
      clickId: newClickId(now.getTime(), randomBytes(10)),
      userAgent: visit.userAgent.slice(0, LONGEST_AGENT),
    };
    let request: AdRequest = { format: "direct_link", bot, user: userOf(visit), seen: new Map() };
    for (let attempt = 1; attempt <= MOST_TRIES; attempt++) {
      const followed = await followLink({ ...judged, request });
      const { outcome, userId } = followed;
      if (outcome === "user-cap" && userId !== null) {
        request = { ...request, seen: await seenBy({ database, campaigns }, { botId: bot.botId, userId }, now) };
      } else if (outcome !== "again" && outcome !== "full") {
        const find = (campaignId: string) => campaigns.find(campaignId);
        return answerOf({ ...judged, request }, followed, { bot: { name: bot.name, username: bot.username }, find });
      }
    }
    throw new OverloadedError(`a visit was retried ${MOST_TRIES} times without a decision`);
  };
}

/** What the visitor sees. */
function answerOf(
  visit: JudgedVisit,
  { outcome, availableAt, usedCampaignId, state }: FollowedLink,
  { bot, find }: { bot: LinkBot; find: (campaignId: string) => Campaign | undefined },
): FollowOutcome {
  switch (outcome) {
    case "counted":
    // A suspicious click leads to its ad, too.
    case "held":
    case "suspicious":
      return { outcome: "landed", url: landingOf(visit, state?.campaign) };
    case "used": {
      // The code earned its click before: its visitor returns to the same ad.
      const campaign = usedCampaignId === null ? undefined : find(usedCampaignId);
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
      if (outcome.startsWith("tap-asked-")) return { outcome: "tap-needed", code: visit.code, bot };
      if (outcome.startsWith("machine-")) return { outcome: "machine" };
      throw new Error(`unexpected outcome of a visit: "${outcome}"`);
  }
}

/** Without a mini-app, Telegram provides no data about the visitor; the browser provides a little. */
function userOf({ userAgent, acceptLanguage }: Visit): AdRequest["user"] {
  return { language: languageOf(acceptLanguage), platform: platformOf(userAgent) };
}

function landingOf({ code, clickId, request }: JudgedVisit, campaign: Campaign | undefined): string {
  if (!campaign?.landingUrl) throw new Error(`the campaign of a link has no landing page: ${campaign?.campaignId}`);
  return landingAddress(campaign.landingUrl, {
    ...{ click_id: clickId, code, bot_id: request.bot.botId },
    ...{ campaign_id: campaign.campaignId, creative_id: "" },
  });
}

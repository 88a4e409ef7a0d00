import { eventIdOfClick, isCode, newClickId } from "@intermission/ad-core/code";
import { encodeWebhookEvent } from "@intermission/ad-core/webhook-event";
import { OverloadedError } from "@intermission/postgres/group-commits";
import type { AdDatabase } from "../ad-database.ts";
import { languageOf, platformOf } from "../ad-selection/ad-request.ts";
import type { CampaignSnapshot } from "../ad-selection/campaign-snapshot.ts";
import type { CampaignState } from "../ad-selection/campaign-state.ts";
import { type AdWish, hasRoom, isAtEdge, seenBy, selectAd } from "../ad-selection/select-ad.ts";
import { findBot } from "../bots/find-bot.ts";
import type { Campaign } from "../campaigns/rows.ts";
import { randomBytes } from "../random-bytes.ts";
import { limitOfViewer } from "../viewers/limit-of-viewer.ts";
import type { Deliveries } from "../webhook-delivery/deliveries.ts";
import type { AddressHasher } from "./address-hash.ts";
import { isAddressOverLimits } from "./address-limits.ts";
import { signalsOfLink } from "./click-signals.ts";
import { type CountableClick, clickCounter, lastClickCounter } from "./count-click.ts";
import { findClickedCampaign } from "./find-clicked-campaign.ts";
import { landingAddress } from "./landing-address.ts";
import { type Link, linkReader } from "./read-link.ts";
import type { Visitor } from "./recognise-person.ts";
import { refusalRecorder } from "./record-refusal.ts";

export interface Visit {
  code: string;
  visitor: Visitor;
  /** The visitor tapped the button of our own page. */
  isTap: boolean;
  userAgent: string;
  acceptLanguage: string | undefined;
  address: string;
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
  /** `url`: where the visitor may go on to, uncounted. */
  | { outcome: "address-limit"; url: string; bot: LinkBot };

export type FollowDirectLink = (visit: Visit) => Promise<FollowOutcome>;

const LONGEST_AGENT = 256;
/** Of the clicks of one viewer that meet, one is judged at a time; the others read again and go on. */
const MOST_TRIES = 20;

interface Judged {
  reason: string;
  result: FollowOutcome;
}

/** Follows links: what a visit is worth is judged on one read and counted by one write, each shared by those at once. */
export function directLinkFollower(deps: {
  database: AdDatabase;
  campaigns: CampaignSnapshot;
  deliveries: Deliveries;
  hashAddress: AddressHasher;
  mostDailyClicksPerAddress?: number | undefined;
}): FollowDirectLink {
  const { database, campaigns, hashAddress, mostDailyClicksPerAddress } = deps;
  const links = linkReader(database);
  const countClick = clickCounter(deps);
  const countLastClick = lastClickCounter(deps);
  const refusals = refusalRecorder(database);

  async function choose(wish: AdWish, link: Link, now: Date): Promise<CampaignState | Judged> {
    const chosen = await selectAd({ database, campaigns }, wish, { now, random: Math.random });
    if (chosen.outcome === "chosen") return chosen.state;
    return { reason: "no-ad", result: { outcome: "no-ad", bot: botOf(link) } };
  }

  async function count(click: CountableClick, state: CampaignState): Promise<string | undefined> {
    const asked = { format: "direct_link" as const, now: click.occurredAt };
    if (click.isTest || !isAtEdge(state, asked.format)) return countClick(click);
    return countLastClick(click, (tx) => hasRoom({ database: tx, campaigns }, state, asked));
  }

  /** The code earned its click before: its visitor comes back to the same ad. */
  async function leadBack(link: Link, clickId: string): Promise<Judged> {
    const campaignId = link.withheldCampaignId ?? (await findClickedCampaign(database, link));
    const campaign = campaignId === undefined ? undefined : campaigns.find(campaignId);
    const reason = "used";
    if (campaign === undefined) return { reason, result: { outcome: reason, bot: botOf(link) } };
    return { reason, result: { outcome: "landed", url: landingOf(campaign, link, clickId) } };
  }

  /** The address has used up its day. Its visitor may go on to an ad all the same, which counts nothing and holds nothing. */
  async function leadOn({ userId, ...wish }: AdWish, link: Link, clickId: string, now: Date): Promise<Judged> {
    const seen = await seenBy({ database, campaigns }, { botId: link.botId, userId }, now);
    const chosen = campaigns.choose({ ...wish, seen }, { now, random: Math.random });
    const bot = botOf(link);
    const reason = "address-limit";
    if (chosen.outcome === "no-ad") return { reason, result: { outcome: "no-ad", bot } };
    return { reason, result: { outcome: reason, url: landingOf(chosen.state.campaign, link, clickId), bot } };
  }

  return async (visit) => {
    const { now } = visit;
    if (!isCode(visit.code)) return { outcome: "unknown-code" };
    const address = hashAddress(visit.address, now);
    const clickId = newClickId(now.getTime(), randomBytes(10));
    for (let attempt = 1; ; attempt++) {
      const link = await links.submit({ code: visit.code, address, now });
      if (!link) return { outcome: "unknown-code" };
      const { botId, userId, code } = link;
      const userAgent = visit.userAgent.slice(0, LONGEST_AGENT);
      const click = { botId, userId, code, clickId, userAgent, addressHash: address.today, occurredAt: now };
      const bot = await findBot(database, botId);
      if (!bot) throw new Error("a code's bot vanished");
      const wish = { format: "direct_link" as const, bot, userId, user: userOf(visit) };
      const refusal = refuse(link, visit, { campaigns, mostDailyClicksPerAddress });
      const judged =
        refusal === "used"
          ? await leadBack(link, clickId)
          : refusal === "address-limit"
            ? await leadOn(wish, link, clickId, now)
            : (refusal ?? (await choose(wish, link, now)));
      if ("reason" in judged) {
        await refusals.submit({ ...click, reason: judged.reason });
        return judged.result;
      }
      const { campaign } = judged;
      const about = { isTap: visit.isTap, isTest: bot.testers.includes(userId), signals: signalsOfLink(link, now) };
      const hashes = { addressHashBefore: address.yesterday, networkHash: address.network };
      const countable = countableClick({ ...click, ...about, ...hashes }, link, campaign);
      const eventId = await count(countable, judged);
      if (eventId === countable.eventId) return { outcome: "landed", url: landingOf(campaign, link, clickId) };
      if (attempt === MOST_TRIES) throw new OverloadedError(`a click lost ${attempt} races`);
    }
  };
}

/** Why a visit earns nothing, and what its visitor sees; undefined when it counts. */
function refuse(
  link: Link,
  visit: Visit,
  {
    campaigns,
    mostDailyClicksPerAddress,
  }: { campaigns: CampaignSnapshot; mostDailyClicksPerAddress: number | undefined },
): Judged | "used" | "address-limit" | undefined {
  const { visitor, isTap, now } = visit;
  const bot = botOf(link);
  if (visitor.kind === "machine") return { reason: `machine-${visitor.reason}`, result: { outcome: "machine" } };
  if (link.earned.includes("direct_link") || link.withheldCampaignId !== null) return "used";
  if (link.expiresAt <= now) return { reason: "expired", result: { outcome: "expired", bot } };
  if (link.isSuspended) return { reason: "bot-suspended", result: { outcome: "no-ad", bot } };
  const limit = limitOfViewer(link.viewer, link, now, link.unfinished);
  if (limit.outcome === "limited") return { reason: limit.reason, result: { ...limit, bot } };
  if (!campaigns.index().hasFormat.direct_link) return { reason: "no-ad", result: { outcome: "no-ad", bot } };

  if (mostDailyClicksPerAddress !== undefined && link.addressCounted >= mostDailyClicksPerAddress)
    return "address-limit";
  const doubt = doubtAbout(link, visit);
  if (doubt === undefined || isTap) return undefined;
  return { reason: `tap-asked-${doubt}`, result: { outcome: "tap-needed", code: link.code, bot } };
}

function doubtAbout(link: Link, { visitor, now }: Visit): string | undefined {
  if (visitor.kind === "doubtful") return visitor.reason;
  return isAddressOverLimits(link.addressClicks, now) ? "address" : undefined;
}

function countableClick(
  click: Omit<CountableClick, "reference" | "eventId" | "campaignId" | "body" | "unfinishedViews">,
  { reference, unfinished }: Link,
  { campaignId }: Campaign,
): CountableClick {
  const { botId, userId, code, occurredAt, isTest } = click;
  const eventId = eventIdOfClick(click.clickId);
  const body = encodeWebhookEvent({
    ...{ event: "direct_link", event_id: eventId, bot_id: botId, user_tg_id: userId, code },
    ...(reference !== null && { reference }),
    occurred_at: occurredAt.toISOString(),
    ...(isTest && { test: true as const }),
  });
  return { ...click, reference, campaignId, eventId, body, unfinishedViews: unfinished.count };
}

function botOf({ botName, botUsername }: Link): LinkBot {
  return { name: botName, username: botUsername };
}

/** Of a visitor without a mini-app Telegram says nothing; the browser says a little. */
function userOf({ userAgent, acceptLanguage }: Visit): AdWish["user"] {
  return { language: languageOf(acceptLanguage), platform: platformOf(userAgent) };
}

function landingOf(campaign: Campaign, { code, botId }: Link, clickId: string): string {
  if (campaign.landingUrl === null) throw new Error(`campaign ${campaign.campaignId} of a link has no landing page`);
  return landingAddress(campaign.landingUrl, {
    ...{ click_id: clickId, code, bot_id: botId },
    ...{ campaign_id: campaign.campaignId, creative_id: "" },
  });
}

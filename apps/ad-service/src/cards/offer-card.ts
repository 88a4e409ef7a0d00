import { randomBytes } from "node:crypto";
import type { Bot } from "@intermission/operator-api/bots";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import { hasCreditLeft } from "../ad-selection/bought-budget.ts";
import type { CampaignSnapshot } from "../ad-selection/campaign-snapshot.ts";
import type { CampaignState } from "../ad-selection/campaign-state.ts";
import { admitCreative, meetCreative, reviewedCard, seenCard } from "../demand/bought-creatives.ts";
import type { Demand } from "../demand/demand.ts";
import type { BidOpening } from "../demand/openrtb/bid-request.ts";
import { priceOfOne } from "../demand/openrtb/read-price.ts";
import { type Card, takeCard } from "../demand/read-card.ts";
import { noticeAddress } from "../demand/take-bid.ts";
import {
  type Auction,
  type BuyerOffer,
  buyersFor,
  concludeAuction,
  decideBid,
  dropTaken,
  nameWinner,
  openAuction,
  refuseTaken,
} from "../offers/auction.ts";
import { orderOffers } from "../offers/order-offers.ts";
import { readConsent } from "../viewers/viewer-consents.ts";

export interface CardDeps {
  database: Database;
  campaigns: CampaignSnapshot;
  demand: Demand;
  isPlainHttpAllowed: boolean;
}

export interface CardRequest {
  bot: Bot;
  userId: string;
  language: string | undefined;
  now: Date;
}

export interface OfferedCard extends Card {
  cardId: string;
  expiresAt: Date;
}

export type OfferCardOutcome =
  | { outcome: "offered"; card: OfferedCard }
  /** No buyer of cards may be asked for this user now. */
  | { outcome: "no-buyer" }
  /** No buyer has offered one that can be sent. */
  | { outcome: "no-card" };

/** A bot sends the card right away; what its network offered does not stay for long. */
const EXPIRES_MS = 15 * 60_000;
const MAX_REQUEST_MS = 800;
const MAX_TAKEN = 3;

/** Requests the buyers of cards, and offers the bot the best card that may be shown to this user. */
export async function offerCard(deps: CardDeps, request: CardRequest): Promise<OfferCardOutcome> {
  const { campaigns, demand } = deps;
  const { bot, userId, language, now } = request;
  const user = { ...(language !== undefined && { language }) };
  const seen = await readSeen(deps, request);
  // The campaign of a buyer of cards sells nothing else, so its targeting and caps are those of its cards.
  const ad = { format: "rewarded" as const, bot, user, seen };
  const buyers = buyersFor(campaigns, ad, { format: "card", now });
  if (buyers.length === 0) return { outcome: "no-buyer" };
  const consent = await readConsent(deps.database, { botId: bot.botId, userId, now });
  const opening = { ...openingOf(request), consent };
  const auction = await openAuction(demand, buyers, { opening, leftMs: MAX_REQUEST_MS });
  const card = await takeBest(deps, auction, request);
  await concludeAuction(demand, auction, now);
  return card === undefined ? { outcome: "no-card" } : { outcome: "offered", card };
}

function openingOf({ bot, userId, language }: CardRequest): Omit<BidOpening, "consent"> {
  return {
    format: "card",
    requestId: randomBytes(16).toString("hex"),
    botId: bot.botId,
    botName: bot.name,
    userId,
    // The bot asks, not the user's device.
    userAgent: "",
    language,
    country: undefined,
    isPremium: false,
    address: undefined,
    isTest: bot.testers.includes(userId),
  };
}

async function takeBest(deps: CardDeps, auction: Auction, request: CardRequest): Promise<OfferedCard | undefined> {
  for (let tries = 0; tries < MAX_TAKEN; tries++) {
    const [best] = orderOffers(auction.left);
    if (best?.source !== "buyer") return undefined;
    const taken = takeCard(best.fit, deps);
    decideBid(auction, best, taken.outcome === "card" ? { outcome: "ad" } : taken);
    if (taken.outcome !== "card") continue;
    const card = await storeOffer(deps, { auction, best, card: taken.card }, request);
    if (card === "limit-reached") dropTaken(auction);
    else if (card === "unreviewed" || card === "disapproved") refuseTaken(auction, card);
    else {
      nameWinner(auction);
      return card;
    }
  }
  return undefined;
}

const insert = statement<never>(
  "cards.insert",
  `insert into cards (card_id, bot_id, user_id, buyer_id, campaign_id, is_test, price_micros, link, notice, offered_at, expires_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
);

async function storeOffer(
  { database, campaigns, demand }: CardDeps,
  { auction: { opening }, best, card }: { auction: Auction; best: BuyerOffer; card: Card },
  { bot: { botId }, userId, now }: CardRequest,
): Promise<OfferedCard | "limit-reached" | "unreviewed" | "disapproved"> {
  const { answer, fit } = best;
  const { buyerId, campaignId } = answer.buyer;
  const { isTest } = opening;
  const state = campaigns.byId.get(campaignId);
  if (state === undefined) return "limit-reached";
  const seen = seenCard(buyerId, fit.bid, card);
  if (!isTest) {
    const ad = reviewedCard(card);
    const verdict = await meetCreative(database, seen, { ...answer.buyer, bid: fit.bid, ad, now });
    if (verdict === "unreviewed" || verdict === "disapproved") return verdict;
  }
  const cardId = opening.requestId;
  const expiresAt = new Date(now.getTime() + EXPIRES_MS);
  const priceMicros = priceOfOne(fit.cpmMicros);
  const notice = noticeAddress(best, demand.seller.currency) ?? null;
  return database.transaction(async (tx) => {
    if (!isTest && !(await hasRoom(tx, state, { botId, userId, priceMicros, now }))) return "limit-reached";
    if (!isTest && !(await admitCreative(tx, seen.boughtCreativeId, now))) return "unreviewed";
    const of = [cardId, botId, userId, buyerId, campaignId, isTest, priceMicros];
    await tx.run(insert, [...of, card.link, notice, now, expiresAt]);
    return { ...card, cardId, expiresAt };
  });
}

/** Shown, or on offer: it may still be shown. */
const isCounted = "not is_test and (shown_at is not null or expires_at > $1::timestamptz)";

const lockCampaign = statement<never>(
  "cards.lock-campaign",
  "select from campaigns where campaign_id = $1 for no key update",
);
const readUse = statement<{ today: number; total: number; held: number; ofUser: number }>(
  "cards.read-use",
  `select coalesce(sum(views) filter (where day = ($1::timestamptz at time zone 'utc')::date), 0)::integer as today,
     coalesce(sum(views), 0)::integer as total,
     (select count(*) from cards where cards.campaign_id = $2 and shown_at is null and not is_test and expires_at > $1)::integer as held,
     (select count(*) from cards where bot_id = $3 and user_id = $4 and offered_at > $1::timestamptz - make_interval(secs => $5)
       and cards.campaign_id = $2 and ${isCounted})::integer as "ofUser"
   from campaign_days where campaign_id = $2`,
);

/**
 * Whether one more card stays within each limit of the campaign and of its buyer, with those that are on offer. Locks the campaign
 * where it has limits, so that offers on all nodes wait for each other.
 */
async function hasRoom(
  tx: Transaction,
  state: CampaignState,
  of: { botId: string; userId: string; priceMicros: number; now: Date },
): Promise<boolean> {
  const { campaignId, totalViewCap, dailyViewCap, userCap, userCapSeconds } = state.campaign;
  if (totalViewCap !== null || dailyViewCap !== null || userCap !== null) {
    await tx.run(lockCampaign, [campaignId]);
    const [use] = await tx.run(readUse, [of.now, campaignId, of.botId, of.userId, userCapSeconds ?? 0]);
    const { today = 0, total = 0, held = 0, ofUser = 0 } = use ?? {};
    const isFull = (cap: number | null, used: number) => cap !== null && used >= cap;
    if (isFull(totalViewCap, total + held) || isFull(dailyViewCap, today + held) || isFull(userCap, ofUser))
      return false;
  }
  return hasCreditLeft(tx, state, of);
}

const readCards = statement<{ campaignId: string; at: Date }>(
  "cards.seen-by-user",
  `select campaign_id as "campaignId", offered_at as at from cards
   where bot_id = $2 and user_id = $3 and offered_at > $1::timestamptz - make_interval(secs => $4) and ${isCounted}`,
);

/** When the user got cards of each campaign, where any has a cap for a user. */
async function readSeen({ database, campaigns }: CardDeps, { bot: { botId }, userId, now }: CardRequest) {
  const seen = new Map<string, Date[]>();
  const { userCapSeconds } = campaigns.index;
  if (userCapSeconds === undefined) return seen;
  for (const { campaignId, at } of await database.run(readCards, [now, botId, userId, userCapSeconds]))
    seen.set(campaignId, [...(seen.get(campaignId) ?? []), at]);
  return seen;
}

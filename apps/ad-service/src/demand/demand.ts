import { type CommitGroup, groupCommits } from "@intermission/postgres/group-commits";
import type { Database } from "@intermission/postgres/open-database";
import type { FastifyBaseLogger } from "fastify";
import type { RequestedBuyer } from "../buyers/buyers.ts";
import { keepExchange } from "./exchanges.ts";
import { type OpeningOffer, storeOpeningOffers } from "./opening-offers.ts";
import type { BidOpening } from "./openrtb/bid-request.ts";
import { type BidDeps, type BuyerAnswer, notSent, requestBid } from "./request-bids.ts";

interface DemandDeps extends BidDeps {
  database: Database;
  log: Pick<FastifyBaseLogger, "error">;
}

/** What this node knows of a buyer. */
interface BuyerHealth {
  /** Of its latest requests, whether each failed; the last one last. */
  latest: boolean[];
  /** On the clock of `performance.now`, as the other. */
  restsUntil: number;
  keptAt: number;
  inFlight: number;
}

/** What requesting buyers needs, and what this node knows of them. */
export interface Demand extends DemandDeps {
  readonly health: Map<string, BuyerHealth>;
  /** Many in one commit. */
  readonly offers: CommitGroup<OpeningOffer, undefined>;
}

/** A viewer waits no longer for all buyers together. */
const MAX_AUCTION_MS = 800;
const LATEST = 10;
const MAX_FAILED = 5;
const REST_MS = 10_000;
const MAX_IN_FLIGHT = 64;
/** An operator reads the latest twenty; of a busy buyer they are a sample. */
const KEEP_EVERY_MS = 1000;

export function openDemand(deps: DemandDeps): Demand {
  const { database } = deps;
  const offers = groupCommits<OpeningOffer, undefined>({
    name: "offers of openings",
    run: (batch) => storeOpeningOffers(database, batch),
  });
  return { ...deps, health: new Map(), offers };
}

/** Requests all buyers at once. Each has one outcome; none of them throws, and none keeps the others waiting after `leftMs`. */
export function requestBids(
  demand: Demand,
  buyers: readonly RequestedBuyer[],
  { opening, leftMs }: { opening: BidOpening; leftMs: number },
): Promise<BuyerAnswer[]> {
  const limitMs = Math.min(leftMs, MAX_AUCTION_MS);
  return Promise.all(buyers.map((buyer) => requestOne(demand, buyer, { opening, leftMs: limitMs })));
}

async function requestOne(
  demand: Demand,
  buyer: RequestedBuyer,
  of: { opening: BidOpening; leftMs: number },
): Promise<BuyerAnswer> {
  const health = healthOf(demand, buyer);
  if (health.restsUntil > performance.now()) return notSent(buyer, "resting");
  if (health.inFlight >= MAX_IN_FLIGHT) return notSent(buyer, "busy");
  health.inFlight += 1;
  try {
    const answer = await requestBid(demand, buyer, of);
    if (answer.request !== undefined) countAnswer(health, isFailure(answer));
    return answer;
  } catch (err) {
    // Such as a key that cannot be opened, or that no header takes: the other sources are offered all the same.
    demand.log.error({ err, buyerId: buyer.buyerId }, "a buyer could not be requested");
    countAnswer(health, true);
    return notSent(buyer, "unreachable");
  } finally {
    health.inFlight -= 1;
  }
}

function healthOf({ health }: Demand, { buyerId }: RequestedBuyer): BuyerHealth {
  const known = health.get(buyerId);
  if (known) return known;
  const fresh = { latest: [], restsUntil: 0, keptAt: Number.NEGATIVE_INFINITY, inFlight: 0 };
  health.set(buyerId, fresh);
  return fresh;
}

/** A bid that is refused is an answer: the server works. */
function isFailure({ outcome }: BuyerAnswer): boolean {
  return ["timeout", "unreachable", "status", "malformed", "too-large"].includes(outcome);
}

function countAnswer(health: BuyerHealth, hasFailed: boolean): void {
  health.latest = [...health.latest, hasFailed].slice(-LATEST);
  if (health.latest.filter(Boolean).length < MAX_FAILED) return;
  health.latest = [];
  health.restsUntil = performance.now() + REST_MS;
}

/** Stores what became of the offers of an opening, and keeps some requests with their answers for the operator. */
export async function recordAuction(
  demand: Demand,
  {
    offers,
    answers,
    isTest,
    now,
  }: { offers: OpeningOffer[]; answers: readonly BuyerAnswer[]; isTest: boolean; now: Date },
): Promise<void> {
  const at = performance.now();
  const kept = answers.flatMap((answer) => {
    const health = healthOf(demand, answer.buyer);
    const { request } = answer;
    if (request === undefined || (!isTest && at - health.keptAt < KEEP_EVERY_MS)) return [];
    health.keptAt = at;
    return keepExchange(demand.database, { ...answer, request }, now);
  });
  const stored = isTest ? [] : offers.map((offer) => demand.offers.submit(offer));
  // They explain, and decide nothing: an opening that has its ad keeps it.
  for (const ended of await Promise.allSettled([...kept, ...stored]))
    if (ended.status === "rejected")
      demand.log.error({ err: ended.reason }, "the offers of an opening were not stored");
}

import { estimate, orderSources, planSources, type SourceRecord } from "../apps/ad-service/src/offers/order-sources.ts";

/** A source as the simulation knows it, and the rule does not. */
interface SimulatedSource {
  campaignId: string;
  /** What the contract says. */
  priceMicros: number;
  /** How often it has an ad, and how many of these are watched to the end. */
  fillShare: number;
  completedShare: number;
}

export interface SimulatedMediation {
  sources: readonly SimulatedSource[];
  /** In micros for an opening: of all openings, of the last thousand, and what the best fixed order earns. */
  learned: number;
  latest: number;
  best: number;
}

const AT_MOST = 3;
/** Sums are read once a minute: at 100 openings a minute. */
const READ_EVERY = 100;
const LATEST = 1000;

/** Openings with the rule that the ad service has, among eight sources that are drawn by `seed`, and a house ad. */
export function simulateMediation({ seed, openings }: { seed: number; openings: number }): SimulatedMediation {
  const random = seededNumbers(seed);
  const sources = Array.from(
    { length: 8 },
    (_, index): SimulatedSource => ({
      campaignId: `source ${index + 1}`,
      priceMicros: Math.round(500 + random() * 5000),
      fillShare: 0.05 + random() * 0.9,
      completedShare: 0.3 + random() * 0.6,
    }),
  );
  const truth = sources.map(({ campaignId, fillShare, priceMicros, completedShare }) => ({
    campaignId,
    fillShare,
    fillMicros: priceMicros * completedShare,
  }));
  const of = { certainMicros: 0, atMost: AT_MOST };
  const best = planSources(truth, of).expectedMicros;
  const sums = new Map(
    sources.map(({ campaignId }) => [campaignId, { tries: 0, fills: 0, completed: 0, earnedMicros: 0 }]),
  );
  let read = new Map<string, SourceRecord>();
  const earned: number[] = [];
  for (let opening = 0; opening < openings; opening++) {
    if (opening % READ_EVERY === 0) read = new Map([...sums].map(([id, record]) => [id, { ...record }]));
    const known = sources.map((source) => estimate({ ...source, record: read.get(source.campaignId) }));
    const { order } = orderSources(known, of, random);
    earned.push(worthOf(order, sources));
    runOpening(sources, sums, { order, random });
  }
  const mean = (some: readonly number[]) => some.reduce((sum, one) => sum + one, 0) / some.length;
  return { sources, learned: mean(earned), latest: mean(earned.slice(-LATEST)), best };
}

/** What an order is expected to earn: the luck of single openings is left out of the figures, not of what is learned from them. */
function worthOf(order: readonly { campaignId: string }[], sources: readonly SimulatedSource[]): number {
  return order.reduceRight((rest, { campaignId }) => {
    const source = sources.find((one) => one.campaignId === campaignId);
    if (source === undefined) return rest;
    return source.fillShare * source.completedShare * source.priceMicros + (1 - source.fillShare) * rest;
  }, 0);
}

/** Requests the sources in their order until one has an ad. */
function runOpening(
  sources: readonly SimulatedSource[],
  sums: ReadonlyMap<string, SourceRecord>,
  { order, random }: { order: readonly { campaignId: string }[]; random: () => number },
): void {
  for (const { campaignId } of order) {
    const source = sources.find((one) => one.campaignId === campaignId);
    const sum = sums.get(campaignId);
    if (source === undefined || sum === undefined) continue;
    sum.tries += 1;
    if (random() >= source.fillShare) continue;
    sum.fills += 1;
    if (random() < source.completedShare) {
      sum.completed += 1;
      sum.earnedMicros += source.priceMicros;
    }
    return;
  }
}

/** The same numbers for the same seed (mulberry32). */
export function seededNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

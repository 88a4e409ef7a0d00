/** What is known of a source of one bot and country in the last seven days. */
export interface SourceRecord {
  /** How often it was requested, and how often it had an ad. */
  tries: number;
  fills: number;
  /** The ads that were watched to the end and paid. */
  completed: number;
  /** By what it had. */
  earnedMicros: number;
}

/** A source whose answer is known only once it was requested: a VAST tag. */
export interface UncertainSource {
  campaignId: string;
  /** What is paid for one view. */
  priceMicros: number;
  record: SourceRecord | undefined;
}

/** How likely a source has an ad, and what that earns: some ads are not watched to the end. */
export interface Estimate {
  campaignId: string;
  fillShare: number;
  fillMicros: number;
}

/** Completed ads that are added to each source's record, so that a new source starts at its full price. */
const ASSUMED_FILLS = 10;
/** An answer, and none, that count before it was requested: an unknown source is worth a try. */
const ASSUMED_TRIES = 2;

/**
 * The expected earning of an ad: its price times the rate at which ads of its source are watched to the end. Tags, own videos and
 * bids share this rule, so that their values are comparable.
 */
export function expectedMicros(
  priceMicros: number,
  record: Pick<SourceRecord, "fills" | "completed"> | undefined,
): number {
  const { fills = 0, completed = 0 } = record ?? {};
  // A view that began on an earlier day is completed on this one, so completions may exceed fills.
  return (priceMicros * (Math.min(completed, fills) + ASSUMED_FILLS)) / (fills + ASSUMED_FILLS);
}

export function estimate({ campaignId, priceMicros, record }: UncertainSource): Estimate {
  const { tries = 0, fills = 0 } = record ?? {};
  return {
    campaignId,
    fillShare: (fills + 1) / (tries + ASSUMED_TRIES),
    fillMicros: expectedMicros(priceMicros, record),
  };
}

/** What is compared of one opening. */
export interface Plan {
  /** In the order in which they are requested, until one has an ad. */
  order: readonly Estimate[];
  /** What the opening is expected to earn. */
  expectedMicros: number;
}

/**
 * The sources to request, and their order, that earn the most: `certainMicros` is what is shown if none of them has an ad, such as
 * an own video or a bid, and `atMost` how many a viewer waits for.
 *
 * Of the sources that are requested, the one with the dearer ad goes first, since a source without an ad costs nothing but its
 * place. Which of them are worth a place is found from the last one back.
 */
export function planSources(
  estimates: readonly Estimate[],
  { certainMicros, atMost }: { certainMicros: number; atMost: number },
): Plan {
  const sorted = estimates.toSorted((a, b) => b.fillMicros - a.fillMicros);
  // best[left]: the plan with so many places, of the sources from the one that is looked at on.
  let best: Plan[] = Array.from({ length: atMost + 1 }, () => ({ order: [], expectedMicros: certainMicros }));
  for (const source of sorted.toReversed()) {
    best = best.map((without, left) => {
      const rest = best[left - 1];
      if (rest === undefined) return without;
      const expectedMicros = source.fillShare * source.fillMicros + (1 - source.fillShare) * rest.expectedMicros;
      // An equal one is requested: what it earns is known only by requests.
      return expectedMicros >= without.expectedMicros ? { order: [source, ...rest.order], expectedMicros } : without;
    });
  }
  return best[atMost] ?? { order: [], expectedMicros: certainMicros };
}

/** The part of openings in which another source goes first, so that what was bad lately may show that it has become better. */
export const EXPLORED_SHARE = 0.05;

/**
 * The order for one opening, by two numbers of `random` in [0, 1): that of the plan, or in one of twenty openings with another
 * source first, each as likely as the others.
 */
export function orderSources(
  estimates: readonly Estimate[],
  of: { certainMicros: number; atMost: number },
  random: () => number,
): { order: readonly Estimate[]; isTrial: boolean } {
  const { order } = planSources(estimates, of);
  if (estimates.length === 0 || of.atMost === 0 || random() >= EXPLORED_SHARE) return { order, isTrial: false };
  const others = estimates.filter(({ campaignId }) => campaignId !== order[0]?.campaignId);
  const tried = others[Math.floor(random() * others.length)];
  if (tried === undefined) return { order, isTrial: false };
  const rest = order.filter(({ campaignId }) => campaignId !== tried.campaignId);
  return { order: [tried, ...rest].slice(0, of.atMost), isTrial: true };
}

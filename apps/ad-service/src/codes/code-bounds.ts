import { codeWeekAt } from "@intermission/ad-core/code";

/** A code lives for a day, its view minutes longer, and clocks may differ by a minute. */
const OPEN_FOR_MS = 3 * 86_400_000;
const SKEW_MS = 60_000;

/** The bounds of the codes whose views may be open at one of these moments (at least one). */
export function boundsAt(moments: readonly Date[]): [first: string, last: string] {
  const times = moments.map((moment) => moment.getTime());
  return [codeWeekAt(Math.min(...times) - OPEN_FOR_MS), `${codeWeekAt(Math.max(...times) + SKEW_MS)}~`];
}

/**
 * SQL of these bounds, from two parameters of a statement: PostgreSQL prepares a look-up for each partition that its parameters do
 * not exclude, which takes longer than the look-up. Null is no bound.
 */
export function boundsIn(first: string, last: string): { first: string; last: string } {
  return { first: `coalesce(${first}::text, '')`, last: `coalesce(${last}::text, '~')` };
}

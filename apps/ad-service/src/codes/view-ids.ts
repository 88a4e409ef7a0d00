import {
  CODE_HOURS_LENGTH,
  CODE_WEEK_LENGTH,
  codeAlphabet,
  codeWeekAt,
  hoursOfCode,
  weekOfCode,
} from "@intermission/ad-core/code";
import { randomBytes } from "@intermission/server/random-bytes";

const TIME_LENGTH = CODE_WEEK_LENGTH + CODE_HOURS_LENGTH;
const VIEW_ID = new RegExp(`^([1-9][0-9]{0,19})-[${codeAlphabet}]{${TIME_LENGTH}}[0-9A-Za-z_-]{22}$`);

/**
 * Starts with the bot's id, so that an address with only the view id finds the row by its primary key, and behind it the week
 * of the view's code, by which the rows are partitioned. Views of the same three hours are neighbours in an index, as codes are.
 */
export function newViewId({ botId, code }: { botId: string; code: string }, random = newViewRandom()): string {
  return `${botId}-${weekOfCode(code)}${hoursOfCode(code)}${random}`;
}

/** The random part of a view's id, which cannot be guessed. */
export function newViewRandom(): string {
  return randomBytes(16).toString("base64url");
}

/** Undefined for a text that is no view id. */
export function botOfView(viewId: string): string | undefined {
  return VIEW_ID.exec(viewId)?.[1];
}

/** SQL: whether a code is of the week that a view's id names, so that a look-up by the id reads one partition. */
export function inWeekOfView(viewId: string, code: string): string {
  return `${code} >= week_of_view(${viewId}) and ${code} < week_of_view(${viewId}) || '~'`;
}

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

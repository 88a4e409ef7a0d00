import { CODE_HOURS_LENGTH, CODE_WEEK_LENGTH, codeAlphabet, hoursOfCode, weekOfCode } from "@intermission/ad-core/code";
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

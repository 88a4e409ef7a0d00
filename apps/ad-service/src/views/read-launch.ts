import { codeInText, codePrefixOf, isCode, startParamPattern } from "@intermission/ad-core/code";
import type { Bot } from "@intermission/operator-api/bots";
import type { Database } from "@intermission/postgres/open-database";
import { findCode } from "../codes/describe-code.ts";

/** What the mini-app was launched with. */
interface LaunchValues {
  /** From the page's address. */
  code: string | undefined;
  /** Telegram's `start_param`, from the signed launch data. */
  signedStartParam: string | undefined;
  /** The same from the page's address, where anyone can write it. */
  startParam: string | undefined;
}

/** How a launch is read. */
export interface Launch {
  /** The code to open, which may be malformed; undefined: the user's open code, or a new one. */
  code: string | undefined;
  /** The publisher's own value, which Telegram signed. */
  startParam: string | undefined;
}

/**
 * A code in the page's address is read as a code, even if people or messengers added something to it. A `startapp` value
 * belongs to the publisher, unless it is a code of this bot. Links with such a value may be shared, so a code of another user
 * is ignored.
 */
export async function readLaunch(
  database: Database,
  { bot, userId, now, ...values }: LaunchValues & { bot: Bot; userId: string; now: Date },
): Promise<Launch> {
  const { signedStartParam } = values;
  // A client may repeat the launch's value as the code.
  const isRepeated = values.code !== undefined && values.code === signedStartParam;
  const code = isRepeated || values.code === undefined ? undefined : (codeInText(values.code) ?? values.code);
  const launchValue = signedStartParam ?? values.startParam;
  const mayBeCode = launchValue !== undefined && isCode(launchValue) && codePrefixOf(launchValue) === bot.codePrefix;
  const found = mayBeCode ? await findCode(database, { code: launchValue, now }) : undefined;
  const ownCode = found?.userId === userId ? found.code : undefined;
  const isPassedOn = signedStartParam !== undefined && !found && startParamPattern.test(signedStartParam);
  return { code: code ?? ownCode, startParam: isPassedOn ? signedStartParam : undefined };
}

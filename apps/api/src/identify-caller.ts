import { type BearerFault, bearerFaultOf } from "@intermission/server/bearer-fault";
import { TRPCError } from "@trpc/server";
import type { ServedBots } from "./bots/served-bots.ts";
import { readSessionToken } from "./telegram-user/sign-in.ts";
import type { Caller } from "./trpc.ts";

/**
 * Identifies the caller by the Authorization header: a bot's backend by its key, or a user of a bot by their session
 * token. Both name the bot: a caller cannot choose another.
 */
export function identifyCaller(
  authorization: string | undefined,
  bots: Pick<ServedBots, "get" | "ofBackendKey">,
  now: Date,
): Caller {
  const [, token] = /^Bearer +([\x21-\x7e]{1,512})$/i.exec(authorization ?? "") ?? [];
  if (token === undefined) return anonymous(authorization);
  const ofKey = bots.ofBackendKey(token);
  if (ofKey) return { kind: "backend", botId: ofKey.id };
  const [, botId = "", session = ""] = /^([1-9]\d{0,19})\.(.+)$/.exec(token) ?? [];
  const bot = bots.get(botId);
  const userId = bot ? readSessionToken(bot.sessionKey, session, now) : null;
  return bot && userId !== null ? { kind: "user", botId: bot.id, userId } : anonymous(authorization);
}

function anonymous(authorization: string | undefined): Caller {
  return { kind: "anonymous", refusal: describeRefusal(authorization) };
}

const sendBearer = "send: Authorization: Bearer <BACKEND_API_KEY>";
const ownKey = "this API takes its own key for the bot's backend, the value that it has as BACKEND_API_KEY";

const sentences = {
  missing: `the Authorization header is missing; ${sendBearer}`,
  "no-scheme": `the Authorization header has a key and no word before it; ${sendBearer}`,
  "other-scheme": `the Authorization header has another scheme than Bearer; ${sendBearer}`,
  "no-token": `the Authorization header has no key: the client's setting is empty; ${sendBearer}`,
  quoted: "the key in the Authorization header is in quotes: remove them from the client's setting",
  "bot-token": `the Authorization header has a token of @BotFather; ${ownKey}`,
  several: `the Authorization header has more than one key; ${sendBearer}`,
  "other-form": `the key in the Authorization header is of no bot here, or was replaced; ${ownKey}`,
} satisfies Record<BearerFault, string>;

/** Why an `Authorization` header identifies no caller. Never says more of a key than its form. */
function describeRefusal(authorization: string | undefined): string {
  const fault = bearerFaultOf(authorization);
  if (fault === "other-form" && / ad_/.test(authorization ?? ""))
    return `the Authorization header has an API token of the ad service; ${ownKey}`;
  // The mini-app's: its bot, a full stop, and what was signed.
  if (fault === "other-form" && / [1-9][0-9]*\./.test(authorization ?? ""))
    return "the session token in the Authorization header is unknown or has expired: open the mini-app again";
  return sentences[fault];
}

/** The operator acts for the bot that is named, or for the only one. Throws if it is not clear which. */
export function identifyOperator(
  named: string | string[] | undefined,
  bots: Pick<ServedBots, "configured" | "known">,
): Caller {
  const known = bots.known();
  const [only] = known;
  if (typeof named === "string" && known.includes(named)) return { kind: "backend", botId: named };
  if (named === undefined && only !== undefined && known.length === 1) return { kind: "backend", botId: only };
  const list = known.slice(0, 20).join(", ");
  const message =
    named === undefined
      ? `this server has several bots or none (${list}): select one by BOT_ID`
      : `this server has no bot ${named}, which BOT_ID selects; it has ${list}`;
  throw new TRPCError({ code: "NOT_FOUND", message });
}

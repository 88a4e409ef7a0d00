import { TRPCError } from "@trpc/server";
import type { ServedBots } from "./bots/served-bots.ts";
import { describeRefusedKey } from "./describe-refused-key.ts";
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
  if (token === undefined) return nobody(authorization);
  const ofKey = bots.ofBackendKey(token);
  if (ofKey) return { kind: "backend", botId: ofKey.id };
  const [, botId = "", session = ""] = /^([1-9]\d{0,19})\.(.+)$/.exec(token) ?? [];
  const bot = bots.get(botId);
  const userId = bot ? readSessionToken(bot.sessionKey, session, now) : null;
  return bot && userId !== null ? { kind: "user", botId: bot.id, userId } : nobody(authorization);
}

function nobody(authorization: string | undefined): Caller {
  return { kind: "nobody", refusal: describeRefusedKey(authorization) };
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

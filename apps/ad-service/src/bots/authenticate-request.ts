import { HttpError } from "@intermission/server/http-server";
import type { FastifyRequest } from "fastify";
import type { AdDatabase } from "../ad-database.ts";
import { type AuthenticateBotOutcome, authenticateBot } from "./authenticate-bot.ts";
import type { Bot } from "./rows.ts";

export interface Caller {
  bot: Bot;
  tokenId: string;
}

type Refusal = Exclude<AuthenticateBotOutcome["outcome"], "authenticated">;

const refusals = {
  missing: () => unauthorized("the Authorization header is missing; send: Authorization: Bearer <api_token>"),
  malformed: () => unauthorized("the Authorization header is malformed; send: Authorization: Bearer <api_token>"),
  unknown: () => unauthorized("the token is unknown or was revoked"),
  suspended: () => new HttpError(403, "BOT_SUSPENDED", "the bot is suspended; ask the operator of this service"),
} satisfies Record<Refusal, () => HttpError>;

declare module "fastify" {
  interface FastifyRequest {
    /** Set on requests that passed `authenticateRequest`; read it with `callerOf`. */
    caller: Caller | undefined;
  }
}

/** The caller of a request that passed `authenticateRequest`. */
export function callerOf(request: FastifyRequest): Caller {
  const { caller } = request;
  if (!caller) throw new Error(`${request.routeOptions.url} is reached without authentication`);
  return caller;
}

export async function authenticateRequest(database: AdDatabase, request: FastifyRequest, now: Date): Promise<Caller> {
  const outcome = await authenticateBot(database, { authorization: request.headers.authorization, now });
  if (outcome.outcome !== "authenticated") throw refusals[outcome.outcome]();
  request.caller = { bot: outcome.bot, tokenId: outcome.tokenId };
  return request.caller;
}

function unauthorized(message: string): HttpError {
  return new HttpError(401, "UNAUTHORIZED", message, { headers: { "www-authenticate": "Bearer" } });
}

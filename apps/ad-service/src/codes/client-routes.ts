import {
  type CreateCodeResponse,
  createCodeRequest,
  createCodeResponse,
  type DescribeCodeResponse,
  describeCodeResponse,
} from "@intermission/ad-core/client-api";
import type { PayPerCode } from "@intermission/ad-core/client-words";
import type { Bot } from "@intermission/operator-api/bots";
import { isStorable, storableForm } from "@intermission/postgres/storable-text";
import { type CheckedScope, refusals } from "@intermission/server/checked-routes";
import { HttpError } from "@intermission/server/http-server";
import { z } from "zod";
import { callerOf, countCode, type RateLimits } from "../bots/authenticate-client.ts";
import { namedRewardsOf } from "../bots/bot-settings.ts";
import { storeConsent } from "../viewers/viewer-consents.ts";
import { canEarn, type DescribedCode, describeCode } from "./describe-code.ts";
import { type Codes, type IssuedCode, issueCode } from "./issue-code.ts";

/** Base addresses that a code is appended to, without a slash at their ends. */
export interface CodeLinks {
  readonly directLinkUrl: string;
  readonly miniappUrl: string;
}

const codeRequest = createCodeRequest
  .refine(({ reference = "" }) => isStorable(reference), {
    path: ["reference"],
    error: storableForm,
  })
  .refine(({ join }) => isStorable(join?.title ?? ""), {
    path: ["join", "title"],
    error: storableForm,
  })
  .meta(createCodeRequest.meta() ?? {});

const createCode = {
  operationId: "createCode",
  description: "Returns a code for a user: the current one if it stays valid for a while, otherwise a new one.",
  body: codeRequest,
  response: { 200: createCodeResponse },
};
const describeCodeOperation = {
  operationId: "describeCode",
  description: "Returns what a code earned, its views, and why visits were refused.",
  params: z.object({ code: z.string() }),
  response: { 200: describeCodeResponse, ...refusals(404) },
};

export interface CodeClientDeps {
  codes: Codes;
  limits: RateLimits;
  links: CodeLinks;
  now: () => Date;
}

export function codeClientRoutes(scope: CheckedScope, { codes, limits, links, now }: CodeClientDeps): void {
  // Exactly 200: a deployed client treats 201 as an error.
  scope.post("/codes", { schema: createCode }, async (request, reply) => {
    const { bot_id: botId, user_tg_id: userId, reference, join, consent } = request.body;
    const caller = callerOf(request);
    if (botId !== caller.bot.botId) throw anotherBot(caller.bot.botId, botId);
    countCode(limits, reply, caller, userId);
    const at = now();
    if (consent !== undefined) await storeConsent(codes.database, { botId, userId, consent, now: at });
    const issued = await issueCode(codes, { bot: caller.bot, userId, reference, joinTitle: join?.title, now: at });
    return createCodeAnswer(issued, { bot: caller.bot, links, now: at });
  });

  scope.get("/codes/:code", { schema: describeCodeOperation }, async (request) => {
    const { botId, payPerCode } = callerOf(request).bot;
    const described = await describeCode(codes.database, { botId, code: request.params.code, now: now() });
    if (described.outcome === "unknown-code") throw new HttpError(404, "NOT_FOUND", "this bot has no such code");
    return describeCodeAnswer(described.code, payPerCode);
  });
}

function anotherBot(ofToken: string, requested: string): HttpError {
  const message = `the token belongs to another bot: it is of bot ${ofToken}, and bot_id is ${requested}. Use the token of that bot, or the id of this one`;
  return new HttpError(403, "FORBIDDEN", message);
}

function createCodeAnswer(
  { code, expiresAt }: IssuedCode,
  { bot, links, now }: { bot: Bot; links: CodeLinks; now: Date },
): CreateCodeResponse {
  const rewards = namedRewardsOf(bot);
  const secondsLeft = Math.floor((expiresAt.getTime() - now.getTime()) / 1000);
  return {
    code,
    expires_in: Math.max(0, secondsLeft),
    expires_at: expiresAt.toISOString().replace(/\.\d+Z$/, "Z"),
    direct_link: `${links.directLinkUrl}/${code}`,
    miniapp_url: `${links.miniappUrl}/${bot.botId}?code=${code}`,
    ...(rewards && { rewards }),
  };
}

function describeCodeAnswer(code: DescribedCode, payPerCode: PayPerCode): DescribeCodeResponse {
  return {
    code: code.code,
    bot_id: code.botId,
    user_tg_id: code.userId,
    ...(code.reference !== null && { reference: code.reference }),
    ...(code.joinTitle !== null && { join: { title: code.joinTitle } }),
    ...(code.startParam !== null && { start_param: code.startParam }),
    issued_at: code.issuedAt.toISOString(),
    expires_at: code.expiresAt.toISOString(),
    is_expired: code.isExpired,
    earned: code.events.map(({ event, eventId, occurredAt }) => ({
      event,
      event_id: eventId,
      occurred_at: occurredAt.toISOString(),
    })),
    can_earn: canEarn(code, payPerCode),
    pay_per_code: payPerCode,
    sessions: code.views.map((view) => ({
      session_id: view.viewId,
      state: view.state,
      opened_at: view.openedAt.toISOString(),
      watched_at: view.watchedAt?.toISOString() ?? null,
      closed_at: view.closedAt?.toISOString() ?? null,
      accepted_ms: view.acceptedMs,
      duration_ms: view.durationMs,
      refusals: view.refusals,
      ...(view.suspicions.length > 0 && { suspicions: view.suspicions }),
      ...(view.review && { review: view.review }),
    })),
    clicks: code.clicks,
    requests: code.requests,
  };
}

import {
  type AppGrantRequest,
  type AppGrantResponse,
  appGrantRequest,
  appGrantResponse,
  type OpenSessionRefusal,
  scriptTroubleRequest,
  scriptTroubleResponse,
} from "@intermission/ad-core/player-api";
import type { ScriptState } from "@intermission/operator-api/bots";
import { type CheckedScope, refusals } from "@intermission/server/checked-routes";
import { addressNetwork } from "@intermission/server/client-address";
import { countingFor } from "@intermission/server/counted-calls";
import { HttpError } from "@intermission/server/http-server";
import { type RateLimiter, slowDown, spend } from "@intermission/server/rate-limiter";
import type { FastifyRequest } from "fastify";
import { findBot } from "../bots/bots.ts";
import { noteSighting, openSightings } from "../bots/script-sightings.ts";
import { describeDevice } from "../creatives/choose-rendition.ts";
import type { CountrySource } from "../viewers/country-source.ts";
import { availabilityAnswer } from "./describe-availability.ts";
import { candidateOf, mediaOf } from "./find-ad.ts";
import { type OpenAppGrantOutcome, openAppGrant } from "./open-app-grant.ts";
import type { Openings } from "./open-view.ts";
import { openingRefusal } from "./opening-answer.ts";
import { consumes, type SpendForgery } from "./player-scope.ts";
import type { LaunchProof } from "./verify-launch.ts";

const appGrantOperation = {
  operationId: "openAppGrant",
  description: "Opens an app grant of 12 hours for a page of a registered origin, and says whether an ad is available.",
  consumes,
  body: appGrantRequest,
  response: { 200: appGrantResponse, ...refusals(401, 403, 404, 429) },
};
const scriptTroubleOperation = {
  operationId: "reportScriptTrouble",
  description: "Notes why the script in a page cannot show ads; the publisher sees it in the console.",
  consumes,
  body: scriptTroubleRequest,
  response: { 200: scriptTroubleResponse, ...refusals(429) },
};

interface AppGrantDeps {
  openings: Openings;
  checks: RateLimiter;
  spendForgery: SpendForgery;
  countrySource: CountrySource | undefined;
  publicUrl: string;
  now: () => Date;
}

/** What the script in the publisher's own mini-app calls; each call says on which origin it runs. */
export function appGrantRoutes(
  scope: CheckedScope,
  { openings, checks, spendForgery, publicUrl, countrySource, now }: AppGrantDeps,
): void {
  const { database, bots } = openings;
  const sightings = openSightings();

  async function note(
    { headers: { origin }, log }: FastifyRequest,
    { botId, ...seen }: { botId: string; version: string | undefined; state: ScriptState },
  ): Promise<void> {
    const bot = await findBot(bots, botId);
    if (bot) await noteSighting({ database, log, sightings }, { bot, origin, ...seen, now: now() });
  }

  scope.post("/app-grants", { schema: appGrantOperation }, async (request) => {
    const { body } = request;
    const at = now();
    spend(request, checks, addressNetwork(request.ip), at);
    const { origin, "user-agent": userAgent } = request.headers;
    const page = { origin, userAgent, country: countrySource?.(request) };
    const { format = "rewarded" } = body;
    const question = { botId: body.bot_id, launch: proofOf(body), format, count: countingFor(request), now: at };
    const outcome = await openAppGrant(openings, { ...question, ...page });
    const state = scriptStateOf(outcome);
    if (state) await note(request, { botId: body.bot_id, version: body.script_version, state });
    spendForgery(request, outcome, at);
    const availability = outcome.outcome === "opened" ? outcome.availability : undefined;
    const file =
      availability?.outcome === "available"
        ? await candidateOf({ ads: openings.ads, publicUrl }, availability.ad, describeDevice(request.headers))
        : undefined;
    return { ...appGrantAnswer(outcome, { origin, publicUrl, now: at }), ...(file && { media: mediaOf(file) }) };
  });

  scope.post("/script-troubles", { schema: scriptTroubleOperation }, async (request) => {
    const { bot_id: botId, script_version: version, trouble: state } = request.body;
    const at = now();
    spend(request, checks, addressNetwork(request.ip), at);
    await note(request, { botId, version, state });
    return { server_time: at.toISOString() };
  });
}

const statesOfRefusals: { readonly [Reason in OpenSessionRefusal]?: ScriptState } = {
  INIT_DATA_INVALID: "launch-data-refused",
  INIT_DATA_WITHOUT_USER: "launch-data-refused",
  INIT_DATA_EXPIRED: "launch-data-expired",
};

/** Undefined: a bot that is unknown or suspended says nothing about its pages. */
function scriptStateOf(outcome: OpenAppGrantOutcome): ScriptState | undefined {
  switch (outcome.outcome) {
    case "opened":
    case "too-many":
      return "working";
    case "other-origin":
      return "not-registered";
    case "refused":
      return statesOfRefusals[outcome.reason];
    default:
      return outcome satisfies never;
  }
}

/** The schema lets one of both through. */
export function proofOf({ init_data: initData, app_grant: appGrant }: AppGrantRequest): LaunchProof {
  return appGrant === undefined ? { initData: initData ?? "" } : { appGrant };
}

function appGrantAnswer(
  outcome: OpenAppGrantOutcome,
  { origin = "of no browser", publicUrl, now }: { origin: string | undefined; publicUrl: string; now: Date },
): AppGrantResponse {
  if (outcome.outcome === "too-many") throw slowDown(outcome.waitSeconds);
  if (outcome.outcome === "other-origin") {
    const message = `the origin ${origin} is not registered for the bot: add it in the console, or by bots update with an --app-origin for each of its origins`;
    throw new HttpError(403, "ORIGIN_NOT_REGISTERED", message);
  }
  if (outcome.outcome === "refused") throw openingRefusal(outcome, publicUrl);
  return {
    ...availabilityAnswer(outcome.availability),
    app_grant: outcome.token,
    expires_at: outcome.endsAt.toISOString(),
    server_time: now.toISOString(),
  };
}

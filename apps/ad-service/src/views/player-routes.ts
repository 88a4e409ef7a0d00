import { newEventId } from "@intermission/ad-core/code";
import {
  type AdReportResponse,
  adReportRequest,
  adReportResponse,
  type FaultResponse,
  faultRequest,
  faultResponse,
  openSessionRequest,
  openSessionResponse,
  type ReportResponse,
  reportRequest,
  reportResponse,
  type StatusResponse,
  statusRequest,
  statusResponse,
} from "@intermission/ad-core/player-api";
import { refusals } from "@intermission/server/checked-routes";
import { addressNetwork } from "@intermission/server/client-address";
import { type CountedRequest, countingFor } from "@intermission/server/counted-calls";
import { HttpError } from "@intermission/server/http-server";
import { randomBytes } from "@intermission/server/random-bytes";
import { type RateLimiter, rateLimiter, slowDown, spend } from "@intermission/server/rate-limiter";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { z } from "zod";
import { drawsOf } from "../ad-selection/choose-ad.ts";
import { describeDevice } from "../creatives/choose-rendition.ts";
import type { CountrySource } from "../viewers/country-source.ts";
import { stateForPlayer } from "./ad-view.ts";
import { appGrantRoutes, proofOf } from "./app-grant-routes.ts";
import { type Availability, availabilityAnswer } from "./describe-availability.ts";
import { type CandidateAd, candidateOf, mediaOf } from "./find-ad.ts";
import { newOpenings, type OpeningDeps, openView } from "./open-view.ts";
import { openingAnswer, otherServers } from "./opening-answer.ts";
import { consumes, playerScope } from "./player-scope.ts";
import { nextAdDraws, readViewStatus, type ViewStatusOutcome } from "./read-view-status.ts";
import { type RecordFaultOutcome, recordFault } from "./record-fault.ts";
import { type RecordProgressOutcome, recordProgress } from "./record-progress.ts";
import { type ReportAdOutcome, reportAd } from "./report-ad.ts";
import { newSessionToken } from "./session-token.ts";
import { botOfView, newViewRandom } from "./view-ids.ts";

export interface ViewPlayerRoutesDeps extends OpeningDeps {
  countrySource?: CountrySource | undefined;
  /** The address below which `/media/` is served. */
  publicUrl: string;
  now?: () => Date;
  /** For the choice of the ad. Default: the numbers of the code, or without a code random ones. */
  random?: () => number;
}

const ofView = z.object({ sessionId: z.string() });
const openingOperation = {
  operationId: "openSession",
  description: "Opens an ad session for the user of the launch data, or resumes the one that is open.",
  consumes,
  body: openSessionRequest,
  response: { 200: openSessionResponse, ...refusals(401, 403, 404, 409, 410, 429) },
};
const reportProgress = {
  operationId: "reportProgress",
  description: "Reports played ranges, the start of playback and the closing of the ad screen.",
  consumes,
  params: ofView,
  body: reportRequest,
  response: { 200: reportResponse, ...refusals(401, 409, 410, 429) },
};
const reportFault = {
  operationId: "reportFault",
  description: "Reports that the video cannot be played, so that the next opening can return another ad.",
  consumes,
  params: ofView,
  body: faultRequest,
  response: { 200: faultResponse, ...refusals(401, 409, 410, 429) },
};
const reportAdOperation = {
  operationId: "reportAd",
  description: "Records the viewer's objection to the ad, once for each user, creative and day.",
  consumes,
  params: ofView,
  body: adReportRequest,
  response: { 200: adReportResponse, ...refusals(401, 409, 429) },
};
const readStatus = {
  operationId: "readSessionStatus",
  description: "Returns the state of a view and of its reward.",
  consumes,
  params: ofView,
  body: statusRequest,
  response: { 200: statusResponse, ...refusals(401, 409, 410, 429) },
};

/** `/player/v1`, the API of the mini-app. */
export function viewPlayerRoutes(app: FastifyInstance, deps: ViewPlayerRoutesDeps): void {
  const { database, views, countrySource, publicUrl, now = () => new Date(), random } = deps;
  const calls = rateLimiter({ quota: 100, windowSeconds: 20, maxKeys: 50_000 });
  const warnings = rateLimiter({ quota: 1, windowSeconds: 60, maxKeys: 1000 });
  const openings = newOpenings(deps);
  const { ads } = openings;
  const identify = countCalls(calls);

  const callPaths = ["reports", "faults", "status", "ad-reports"].map((call) => `/sessions/:sessionId/${call}`);
  const paths = ["/sessions", "/app-grants", "/script-troubles", ...callPaths];
  playerScope(app, paths, ({ scope, checks, spendForgery }) => {
    scope.post("/sessions", { schema: openingOperation }, async (request) => {
      const { body } = request;
      const at = now();
      spend(request, checks, addressNetwork(request.ip), at);
      const made = newIds(at);
      const { code, start_param: startParam, another: isAnother = false, format = "rewarded" } = body;
      const browser = browserOf(request, body, countrySource);
      const launched = { botId: body.bot_id, launch: proofOf(body), code, startParam, isAnother, format, ...browser };
      const input = { ...launched, clientNote: body.client_note, consent: body.consent, count: countingFor(request) };
      const draws = code === undefined ? Math.random : drawsOf(isAnother ? nextAdDraws(code) : code);
      const outcome = await openView(openings, { ...input, ...made, random: random ?? draws, now: at });
      if (outcome.outcome === "too-many") throw slowDown(outcome.waitSeconds);
      if (outcome.outcome === "refused" && outcome.signedBy && warnings.take(body.bot_id, at.getTime()).isAllowed) {
        request.log.warn({ requestId: request.id, botId: body.bot_id }, otherServers[outcome.signedBy]);
      }
      spendForgery(request, outcome, at);
      return openingAnswer(outcome, publicUrl, at);
    });

    appGrantRoutes(scope, { openings, checks, spendForgery, publicUrl, countrySource, now });

    scope.post("/sessions/:sessionId/reports", { schema: reportProgress }, async (request) => {
      const { body } = request;
      const at = now();
      const id = identify(request, at);
      const { token, reports, started: isStart = false, closed: close, playing: isPlaying = false, picture } = body;
      const eventId = newEventId(at.getTime(), randomBytes(10));
      const progress = { token, reports, isStart, close, isPlaying, ...(picture && { picture }) };
      const outcome = await recordProgress(views, { ...id, ...progress, eventId, now: at });
      return reportAnswer(spendForgery(request, outcome, at), at);
    });

    scope.post("/sessions/:sessionId/faults", { schema: reportFault }, async (request) => {
      const { token, fault } = request.body;
      const at = now();
      const id = identify(request, at);
      const outcome = await recordFault(database, { ...id, token, fault, now: at });
      return faultAnswer(spendForgery(request, outcome, at), at);
    });

    scope.post("/sessions/:sessionId/status", { schema: readStatus }, async (request) => {
      const { token, next_ad: isNextAdRequested = false } = request.body;
      const at = now();
      const id = identify(request, at);
      const { "user-agent": userAgent } = request.headers;
      const question = { ...id, token, isNextAdRequested, userAgent, country: countrySource?.(request), now: at };
      const outcome = spendForgery(request, await readViewStatus(deps, question), at);
      const nextAd = outcome.outcome === "found" ? outcome.nextAd : undefined;
      const device = describeDevice(request.headers);
      const file =
        nextAd?.outcome === "available" ? await candidateOf({ ads, publicUrl }, nextAd.ad, device) : undefined;
      return statusAnswer(outcome, file, at);
    });

    scope.post("/sessions/:sessionId/ad-reports", { schema: reportAdOperation }, async (request) => {
      const { token, reason } = request.body;
      const at = now();
      const id = identify(request, at);
      const outcome = await reportAd(database, { ...id, token, reason, now: at });
      return adReportAnswer(spendForgery(request, outcome, at), at);
    });
  });
}

/** What a new view and its event are called, and the token that its player reports with. */
function newIds(at: Date) {
  return {
    viewRandom: newViewRandom(),
    token: newSessionToken(),
    eventId: newEventId(at.getTime(), randomBytes(10)),
  };
}

type OpeningBody = z.infer<typeof openSessionRequest>;

function browserOf(
  request: FastifyRequest,
  { media_types: mediaTypes, preloaded }: Pick<OpeningBody, "media_types" | "preloaded">,
  countrySource: ViewPlayerRoutesDeps["countrySource"],
) {
  const { "user-agent": userAgent, "accept-language": acceptLanguage } = request.headers;
  const device = { ...describeDevice(request.headers), mediaTypes, preloaded };
  return { userAgent, acceptLanguage, device, address: request.ip, country: countrySource?.(request) };
}

type CallOfView = CountedRequest & { readonly params: z.infer<typeof ofView> };

/** Which view a call is about; one too many of it is a 429. */
function countCalls(calls: RateLimiter) {
  return (request: CallOfView, at: Date): { botId: string; viewId: string } => {
    const { sessionId: viewId } = request.params;
    const botId = botOfView(viewId);
    if (!botId) throw new HttpError(401, "SESSION_UNKNOWN", "there is no such session");
    spend(request, calls, viewId, at);
    return { botId, viewId };
  };
}

const callRefusals = {
  unknown: [401, "SESSION_UNKNOWN", "the session is unknown, or the token is not valid for it"],
  superseded: [409, "SUPERSEDED", "the session was opened again elsewhere, with a new token"],
  over: [410, "SESSION_OVER", "the session's deadline has passed"],
} satisfies Record<string, [status: number, code: string, message: string]>;

function reportAnswer(outcome: RecordProgressOutcome, now: Date): ReportResponse {
  if (outcome.outcome === "limited") throw limitReached(outcome);
  if (outcome.outcome !== "recorded") throw callRefusal(outcome.outcome);
  const { state, review, acceptedMs, acknowledged, refused, tooEarly } = outcome;
  return {
    ...(review && { review }),
    ...stateForPlayer(state),
    accepted_ms: acceptedMs,
    acknowledged,
    refused,
    ...(tooEarly && { too_early: { sequences: tooEarly.sequences, retry_after_ms: tooEarly.retryAfterMs } }),
    server_time: now.toISOString(),
  };
}

function faultAnswer(outcome: RecordFaultOutcome, now: Date): FaultResponse {
  if (outcome.outcome !== "recorded") throw callRefusal(outcome.outcome);
  return { next_opening: outcome.nextOpening, server_time: now.toISOString() };
}

function adReportAnswer({ outcome }: ReportAdOutcome, now: Date): AdReportResponse {
  if (outcome === "unknown" || outcome === "superseded") throw callRefusal(outcome);
  return { outcome, server_time: now.toISOString() };
}

function statusAnswer(outcome: ViewStatusOutcome, file: CandidateAd | undefined, now: Date): StatusResponse {
  if (outcome.outcome !== "found") throw callRefusal(outcome.outcome);
  const { state, code, acceptedMs, event, nextAd } = outcome;
  return {
    ...stateForPlayer(state),
    code,
    accepted_ms: acceptedMs,
    ...(event && {
      event: {
        event_id: event.eventId,
        occurred_at: event.occurredAt.toISOString(),
        delivery: event.delivery,
        ...(event.deliveredAt && { delivered_at: event.deliveredAt.toISOString() }),
      },
    }),
    ...(nextAd && { next_ad: nextAdAnswer(nextAd, file) }),
    server_time: now.toISOString(),
  };
}

function nextAdAnswer(nextAd: Availability, file: CandidateAd | undefined): NonNullable<StatusResponse["next_ad"]> {
  if (nextAd.outcome === "unavailable") return availabilityAnswer(nextAd);
  return {
    available: true,
    today: { earned: nextAd.earnedToday, daily_cap: nextAd.dailyCap },
    ...(file && { media: mediaOf(file) }),
  };
}

/** Opening the view again returns the same limit, with everything that the player's screen needs. */
function limitReached({ reason, availableAt }: Extract<RecordProgressOutcome, { outcome: "limited" }>): HttpError {
  const details = { reason, available_at: availableAt.toISOString() };
  return new HttpError(409, "LIMIT_REACHED", "the viewer may not earn yet: open the session again", { details });
}

function callRefusal(outcome: keyof typeof callRefusals): HttpError {
  return new HttpError(...callRefusals[outcome]);
}

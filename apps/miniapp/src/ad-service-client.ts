import type {
  AdReportRequest,
  AdReportResponse,
  FaultRequest,
  FaultResponse,
  OpenSessionRequest,
  OpenSessionResponse,
  ReportRequest,
  ReportResponse,
  StatusRequest,
  StatusResponse,
} from "@intermission/ad-core/player-api";
import { callAdService, type Reply, sessionsUrl } from "./call-ad-service.ts";
import { retryPauseMs } from "./retry-pause.ts";

/** `unreachable` can be retried; `refused` is the service's decision, with its error code. */
export type Answer<Body> =
  | { readonly outcome: "answered"; readonly body: Body }
  | { readonly outcome: "refused"; readonly code: string; readonly requestId: string | null; readonly botLink?: string }
  | { readonly outcome: "unreachable"; readonly retryAfterMs: number };

export function openSession(request: OpenSessionRequest): Promise<Answer<OpenSessionResponse>> {
  return post("", request);
}

export function sendReports(sessionId: string, request: ReportRequest): Promise<Answer<ReportResponse>> {
  return post(`/${sessionId}/reports`, request);
}

/** For a page that is being closed: the browser sends the beacon later and discards the response. */
function beaconReports(sessionId: string, request: ReportRequest): void {
  // A string body is sent as text/plain.
  navigator.sendBeacon(sessionsUrl(`/${sessionId}/reports`), JSON.stringify(request));
}

export function reportFault(sessionId: string, request: FaultRequest): Promise<Answer<FaultResponse>> {
  return post(`/${sessionId}/faults`, request);
}

export function fetchStatus(sessionId: string, request: StatusRequest): Promise<Answer<StatusResponse>> {
  return post(`/${sessionId}/status`, request);
}

/** What the player of a view calls. */
export const viewCalls = { sendReports, beaconReports, reportFault };
export type ViewCalls = typeof viewCalls;

/** The viewer's objection to the ad, not a report of playback. */
export function reportAd(sessionId: string, request: AdReportRequest): Promise<Answer<AdReportResponse>> {
  return post(`/${sessionId}/ad-reports`, request);
}

const CLICK_TRIES = 3;

/**
 * Counts a tap on a call to action that Telegram has opened, by the address that would redirect: a repeated call counts once.
 */
export async function countClick(url: string): Promise<void> {
  const path = url.replace(/^.*\/sessions/, "");
  for (let failures = 0; failures < CLICK_TRIES; failures++) {
    const answer = await post(path, {});
    if (answer.outcome !== "unreachable") return;
    const pauseMs = retryPauseMs(failures, 2000, 8000, answer.retryAfterMs);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** Returns undefined if the captions cannot be loaded; the ad is then shown without them. */
export async function fetchCaptions(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(url, { signal: abortsLater() });
    return response.ok ? await response.text() : undefined;
  } catch {
    return undefined;
  }
}

function post<Body>(path: string, request: object): Promise<Answer<Body>> {
  return readAnswer(callAdService(path, request, abortsLater()));
}

const MAX_CALL_MS = 10_000;

/** Aborts a call that takes too long. Chrome before 103 and iOS before 16 have no `AbortSignal.timeout`. */
function abortsLater(): AbortSignal {
  const stop = new AbortController();
  setTimeout(() => stop.abort(), MAX_CALL_MS);
  return stop.signal;
}

/** The answer of the early start's call, which has no time limit of its own. */
export function readEarlyAnswer<Body>(replying: Promise<Reply<Body>>): Promise<Answer<Body>> {
  const tooLate = new Promise<never>((_, reject) => setTimeout(reject, MAX_CALL_MS));
  return readAnswer(Promise.race([replying, tooLate]));
}

async function readAnswer<Body>(replying: Promise<Reply<Body>>): Promise<Answer<Body>> {
  try {
    const { response, body } = await replying;
    // Whatever stands in between (a gateway, a page to sign in to the network) may answer, too: it decides nothing.
    if (response.ok && body.server_time) return { outcome: "answered", body };
    const isWorthAnotherTry = response.status > 499 || response.status === 429;
    if (!isWorthAnotherTry && body.error?.code) {
      const { code, details } = body.error;
      const botLink = details?.bot_link;
      const requestId = response.headers.get("x-request-id");
      // Only URLs of t.me become a link.
      return { outcome: "refused", code, requestId, ...(botLink?.startsWith("https://t.me/") && { botLink }) };
    }
    return { outcome: "unreachable", retryAfterMs: Number(response.headers.get("retry-after")) * 1000 || 0 };
  } catch {
    return { outcome: "unreachable", retryAfterMs: 0 };
  }
}

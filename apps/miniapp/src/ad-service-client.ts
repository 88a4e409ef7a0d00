import type {
  OpenSessionRequest,
  OpenSessionResponse,
  ReportRequest,
  ReportResponse,
  StatusResponse,
} from "@intermission/ad-core/player-api";

/** `unreachable` is worth another try; `refused` is the service's decision, by the code of its error. */
export type Answer<Body> =
  | { readonly outcome: "answered"; readonly body: Body }
  | { readonly outcome: "refused"; readonly code: string; readonly requestId: string | null }
  | { readonly outcome: "unreachable"; readonly retryAfterMs: number };

const LONGEST_CALL_MS = 10_000;
const MOST_KEEPALIVE_CHARACTERS = 20_000;

export function openSession(request: OpenSessionRequest): Promise<Answer<OpenSessionResponse>> {
  return post("", request);
}

export function sendReports(sessionId: string, request: ReportRequest): Promise<Answer<ReportResponse>> {
  return post(`/${sessionId}/reports`, request);
}

/** For a page that is going away: the browser sends it later, and nobody hears the answer. */
export function beaconReports(sessionId: string, request: ReportRequest): boolean {
  return navigator.sendBeacon(
    sessionsUrl(`/${sessionId}/reports`),
    new Blob([JSON.stringify(request)], { type: "text/plain" }),
  );
}

export function fetchStatus(sessionId: string, token: string): Promise<Answer<StatusResponse>> {
  return post(`/${sessionId}/status`, { token });
}

/** Undefined: they did not come, and the ad is shown without them. */
export async function fetchCaptions(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout?.(LONGEST_CALL_MS) ?? null });
    return response.ok ? await response.text() : undefined;
  } catch {
    return undefined;
  }
}

async function post<Body>(path: string, request: object): Promise<Answer<Body>> {
  try {
    const body = JSON.stringify(request);
    const response = await fetch(sessionsUrl(path), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
      // Outlives the page: a close is often the last thing that happens in it. Browsers bound what they keep.
      keepalive: body.length < MOST_KEEPALIVE_CHARACTERS,
      signal: AbortSignal.timeout?.(LONGEST_CALL_MS) ?? null,
    });
    const answer = await response.json();
    if (response.ok) return { outcome: "answered", body: answer };
    const isWorthAnotherTry = response.status > 499 || response.status === 429;
    if (!isWorthAnotherTry && answer.error) {
      return { outcome: "refused", code: answer.error.code, requestId: response.headers.get("x-request-id") };
    }
    return { outcome: "unreachable", retryAfterMs: Number(response.headers.get("retry-after")) * 1000 || 0 };
  } catch {
    return { outcome: "unreachable", retryAfterMs: 0 };
  }
}

/** The page's own origin, unless the page lies elsewhere and names the service. */
function sessionsUrl(path: string): string {
  const named = document.querySelector<HTMLMetaElement>('meta[name="ad-service"]')?.content ?? "";
  return `${named}/player/v1/sessions${path}`;
}

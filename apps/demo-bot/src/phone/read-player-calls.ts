import { faultRequest, openSessionResponse, reportRequest, reportResponse } from "@intermission/ad-core/player-api";
import { z } from "zod";
import type { ReportStep, SessionStep, Step } from "../timeline/steps.ts";

/** A call of the mini-app to the ad service, and its answer. */
interface PlayerCall {
  /** Below `/player/v1/`: `sessions`, or `sessions/{id}/reports`. */
  readonly path: string;
  readonly request: unknown;
  readonly answer: unknown;
  readonly at: string;
  readonly ms: number;
}

/** What a call means in the view's timeline. Undefined for calls that change nothing, such as those for the status. */
export function stepOf({ path, request, answer, at, ms }: PlayerCall): Step | undefined {
  if (path === "sessions") return { at, ...sessionStep(answer, ms) };
  if (path.endsWith("/reports")) return reportStep(request, answer, { at, ms });
  const fault = path.endsWith("/faults") ? faultRequest.safeParse(request).data?.fault : undefined;
  return fault === undefined ? undefined : { kind: "fault", at, ms, fault };
}

/** The session that an answer to an opening contains. */
export function sessionOf(
  answer: unknown,
): { code: string; id: string; token: string; publisherApi: string | undefined } | undefined {
  const opened = openSessionResponse.safeParse(answer).data;
  if (opened?.outcome !== "session") return undefined;
  const { code, session_id: id, token, bot } = opened;
  return { code, id, token, publisherApi: bot.publisher_api_url };
}

function sessionStep(answer: unknown, ms: number): SessionStep {
  const opened = openSessionResponse.safeParse(answer).data;
  const isSession = opened?.outcome === "session";
  return {
    kind: "session",
    ms,
    outcome: opened?.outcome ?? errorOf(answer) ?? "unknown",
    durationMs: isSession ? opened.ad.duration_ms : null,
    resumeAtMs: isSession ? opened.resume_at_ms : null,
  };
}

function reportStep(
  request: unknown,
  answer: unknown,
  times: { at: string; ms: number },
): (ReportStep & { at: string }) | undefined {
  const reported = reportRequest.safeParse(request).data;
  if (reported === undefined) return undefined;
  const { reports, started: isStart = false, closed: close = null } = reported;
  const answered = reportResponse.safeParse(answer).data;
  const ranges = reports.map(({ from_ms: fromMs, to_ms: toMs }) => ({ fromMs, toMs }));
  // A heartbeat says nothing new.
  if (ranges.length === 0 && !isStart && close === null) return undefined;
  return {
    ...times,
    kind: "report",
    isStart,
    close,
    ranges,
    acceptedMs: answered?.accepted_ms ?? null,
    state: answered?.state ?? null,
    refused: [...new Set(answered?.refused.map(({ reason }) => reason))],
    tooEarlyMs: answered?.too_early?.retry_after_ms ?? null,
    error: answered === undefined ? (errorOf(answer) ?? "unknown") : null,
  };
}

const errorBody = z.object({ error: z.object({ code: z.string().max(64) }) });

function errorOf(answer: unknown): string | undefined {
  return errorBody.safeParse(answer).data?.error.code;
}

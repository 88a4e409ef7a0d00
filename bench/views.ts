import type {
  OpenSessionResponse,
  ProgressReport,
  ReportRequest,
  ReportResponse,
} from "@intermission/ad-core/player-api";
import type { Target } from "./bench-stack.ts";
import { issueCodes, type Measure, newAddress, newUsers } from "./clicks.ts";
import type { Load, LoadRequest } from "./load.ts";

type OpenedSession = Extract<OpenSessionResponse, { outcome: "session" }>;

export const videoSeconds = 30;

/** When a player reports: at the start, at quartiles, at most 5 s apart, and at the end. With the close: ten calls. */
const reportsAt = [0, 3.75, 7.5, 11.25, 15, 18.75, 22.5, 26.25, videoSeconds];

const json = { "content-type": "application/json" };

/**
 * Measures whole views of 30 s, all in parallel and step by step: all are opened, then all report their start, and so on. A
 * report carries what is not acknowledged yet, like a player's. The server's clock is moved between the steps. Fails if a
 * view is not rewarded at its close.
 */
export async function measureViews(target: Target, count: number, measure: Measure): Promise<void> {
  const openedAt = await target.clock.catchUp();
  const users = newUsers(count);
  const codes = await issueCodes(target, users);
  const openings = users.map((userId, index) => openingOf(target, { userId, code: codes[index] ?? "", at: openedAt }));
  const loadOf = (requests: LoadRequest[], isCaptured = false): Load => ({
    url: target.urls.adService,
    status: 200,
    requests,
    isCaptured,
  });
  const sessions = (await measure("open", loadOf(openings, true))).map(openedSession);
  let kept: ProgressReport[] = [];
  for (const [index, second] of reportsAt.entries()) {
    await target.clock.advance(second === 0 ? 1 : second - (reportsAt[index - 1] ?? 0));
    const report = reportAt(index, kept);
    const requests = sessions.map((session) => reportOf(session, report));
    const answers = await measure("report", loadOf(requests, true));
    kept = answers.every(isAcknowledged) ? [] : report.reports;
  }
  await target.clock.advance(1);
  const closes = sessions.map((session) => reportOf(session, { reports: [], closed: "tap" }));
  for (const body of await measure("close", loadOf(closes, true))) {
    const { state }: ReportResponse = JSON.parse(body);
    if (state !== "rewarded") throw new Error(`a view that was watched and closed is ${state}: ${body}`);
  }
}

function openingOf(
  { bot, initDataOf }: Pick<Target, "bot" | "initDataOf">,
  { userId, code, at }: { userId: string; code: string; at: Date },
): LoadRequest {
  const body = JSON.stringify({ bot_id: bot.botId, init_data: initDataOf(userId, at), code });
  return { method: "POST", path: "/player/v1/sessions", headers: { ...json, "x-forwarded-for": newAddress() }, body };
}

function openedSession(answer: string): OpenedSession {
  const opened: OpenSessionResponse = JSON.parse(answer);
  if (opened.outcome !== "session") throw new Error(`an opening was answered ${answer}`);
  // The clip is some 10 ms shorter than two seconds, and its time is stretched fifteenfold.
  if (Math.abs(opened.ad.duration_ms - videoSeconds * 1000) > 200) {
    throw new Error(`the video lasts ${opened.ad.duration_ms} ms`);
  }
  return opened;
}

function reportOf(
  { session_id: sessionId, token }: Pick<OpenedSession, "session_id" | "token">,
  report: Omit<ReportRequest, "token">,
): LoadRequest {
  const path = `/player/v1/sessions/${sessionId}/reports`;
  return { method: "POST", path, headers: json, body: JSON.stringify({ token, ...report }) };
}

function isAcknowledged(answer: string): boolean {
  const { acknowledged }: ReportResponse = JSON.parse(answer);
  return acknowledged.length > 0;
}

/**
 * What is `kept` since the last acknowledgement, and the range played since the previous report; positions are not whole
 * tenths of a second, like those of a media clock.
 */
function reportAt(index: number, kept: readonly ProgressReport[]): Omit<ReportRequest, "token"> {
  const positionAt = (at: number) => {
    const second = reportsAt[at] ?? 0;
    return second === 0 || second === videoSeconds ? second * 1000 : second * 1000 + 11 + (at % 7);
  };
  if (index === 0) return { reports: [], started: true };
  const [from, to] = [positionAt(index - 1), positionAt(index)];
  const frames = Math.round((to - from) / 40);
  const played = { sequence: index - 1, from_ms: from, to_ms: to };
  const reports = [...kept, { ...played, visible: true, muted: true, rendered_frames: frames }];
  return { reports, ...(reportsAt.length > index + 1 && { playing: true }) };
}

import type {
  OpenSessionResponse,
  ProgressReport,
  ReportRequest,
  ReportResponse,
} from "@intermission/ad-core/player-api";
import { signInitData } from "@intermission/ad-core/telegram-init-data";
import type { DemoSecrets } from "../scripts/demo-secrets.ts";

/** Launch data as Telegram would sign it for this user of the demo bot. */
export function initDataOf(
  userId: string,
  secrets: DemoSecrets,
  now = new Date(),
  language = "en",
  startParam?: string,
): string {
  return signInitData({
    fields: {
      auth_date: String(Math.floor(now.getTime() / 1000)),
      query_id: `AA${userId}`,
      user: JSON.stringify({ id: Number(userId), first_name: "Viewer", language_code: language }),
      ...(startParam !== undefined && { start_param: startParam }),
    },
    botToken: secrets.telegramBotToken,
    botId: secrets.botId,
    privateKey: secrets.telegramPrivateKey,
  });
}

export interface Answer<Body> {
  readonly status: number;
  readonly body: Body;
  /** 0 if the answer does not say when to come back. */
  readonly retryAfterSeconds: number;
}

/** A viewer without a browser that calls the player API directly. */
export class ScriptedViewer {
  readonly adServiceUrl: string;
  constructor(adServiceUrl: string) {
    this.adServiceUrl = adServiceUrl;
  }

  async open(botId: string, initData: string, code?: string): Promise<Answer<OpenSessionResponse>> {
    return this.#post("/player/v1/sessions", { bot_id: botId, init_data: initData, ...(code && { code }) });
  }

  async report(sessionId: string, request: ReportRequest): Promise<Answer<ReportResponse>> {
    return this.#post(`/player/v1/sessions/${sessionId}/reports`, request);
  }

  async #post<Body>(path: string, body: unknown): Promise<Answer<Body>> {
    const response = await fetch(`${this.adServiceUrl}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(30_000),
    });
    const retryAfterSeconds = Number(response.headers.get("retry-after"));
    return { status: response.status, body: (await response.json()) as Body, retryAfterSeconds };
  }
}

/** Honest playback of `durationMs` starting at `fromMs`, split into ranges of a second. */
export function playedRanges(durationMs: number, fromMs = 0, firstSequence = 0): ProgressReport[] {
  const reports: ProgressReport[] = [];
  for (let from = fromMs; from < durationMs; from += 1000) {
    const to = Math.min(from + 1000, durationMs);
    reports.push({ sequence: firstSequence + reports.length, from_ms: from, to_ms: to, visible: true, muted: true });
  }
  return reports;
}

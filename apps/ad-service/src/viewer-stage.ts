import { randomBytes } from "node:crypto";
import { type DescribeCodeResponse, describeCodeResponse } from "@intermission/ad-core/client-api";
import type { ProgressReport } from "@intermission/ad-core/player-api";
import type { AdDatabase } from "./ad-database.ts";
import { sessionRoutes } from "./ad-sessions/routes.ts";
import { type Opened, openSessionStage, type SessionStage } from "./ad-sessions/session-stage.ts";
import { createToken } from "./bots/create-token.ts";
import { secretBox as openSecretBox } from "./bots/secret-box.ts";
import { clientApiRoutes } from "./client-api/routes.ts";

export type ViewerStage = Awaited<ReturnType<typeof openViewerStage>>;

/** The session stage, with the publisher's own door: what a code's description says of each view. For tests. */
export async function openViewerStage(
  database: AdDatabase,
  settings: { cooldownSeconds?: number; dailyCap?: number; suspiciousViews?: "pay" | "hold" | "refuse" } = {},
) {
  const secretBox = openSecretBox(randomBytes(32));
  let address = "";
  const stage = await openSessionStage(
    database,
    (app, deps) => {
      sessionRoutes(app, deps);
      clientApiRoutes(app, {
        ...deps,
        currency: "USD",
        rateLimits: { perTokenPerSecond: 1e6, perUserPerMinute: 1e6 },
        endpointTests: {
          testEndpoint: () => {
            throw new Error("nobody tests a webhook here");
          },
        },
      });
      app.addHook("onListen", async () => {
        address ||= app.listeningOrigin;
      });
    },
    settings,
  );
  const { suspiciousViews = "pay" } = settings;
  const bot = database.query.updateTable("bots").where("bot_id", "=", stage.botId);
  await bot.set({ suspicious_views: suspiciousViews }).execute();
  const created = await createToken({ database, secretBox }, { botId: stage.botId, now: stage.clock.now });
  if (created.outcome !== "created") throw new Error(created.outcome);
  const headers = { authorization: `Bearer ${created.token}` };

  return {
    ...stage,
    ask: (path: string) => fetch(`${address}/client/v1${path}`, { headers }),
    /** What the publisher is told about a code. */
    async describe(code: string): Promise<DescribeCodeResponse> {
      return describeCodeResponse.parse(await (await fetch(`${address}/client/v1/codes/${code}`, { headers })).json());
    },
  };
}

/** Plays as a page does: stretches a little longer than a second, frames counted, and what is not acknowledged is sent again. */
export class HonestPlayer {
  readonly #stage: SessionStage;
  readonly #session: Opened;
  readonly #durationMs = 10_000;
  #sequence: number;
  #positionMs: number;
  #unacknowledged: ProgressReport[] = [];
  #isStarted = false;

  constructor(stage: SessionStage, session: Opened & { resume_at_ms?: number }) {
    this.#stage = stage;
    this.#session = session;
    this.#sequence = session.first_sequence;
    this.#positionMs = session.resume_at_ms ?? 0;
  }

  get isAtEnd(): boolean {
    return this.#positionMs >= this.#durationMs;
  }

  /** One stretch in real time. A page out of sight stands still, but notices it a moment late. */
  playOn({ isVisible = true, lengthMs = 1017 } = {}): void {
    const to = Math.min(this.#positionMs + lengthMs, this.#durationMs);
    this.#stage.advance((to - this.#positionMs) / 1000);
    this.#unacknowledged.push({
      sequence: this.#sequence++,
      from_ms: this.#positionMs,
      to_ms: to,
      visible: isVisible,
      muted: false,
      rendered_frames: Math.round((to - this.#positionMs) / 40),
    });
    if (isVisible) this.#positionMs = to;
  }

  /** What a request brings. `isLost`: it arrives, and the answer does not. `order` is that of its reports. */
  async send({ isLost = false, closed, order = (reports) => reports }: SendOptions = {}): Promise<string> {
    const reports = order(this.#unacknowledged);
    const answer = await this.#stage.report(this.#session, {
      reports,
      ...(!this.#isStarted && { started: true }),
      ...(closed && { closed }),
    });
    if (isLost) return "";
    this.#isStarted = true;
    const acknowledged = answer.body.acknowledged as number[];
    this.#unacknowledged = this.#unacknowledged.filter(({ sequence }) => !acknowledged.includes(sequence));
    return String(answer.body.state);
  }

  /** Closes, and sends what came too early again when it is time. */
  async close(): Promise<void> {
    await this.send({ closed: "tap" });
    while (this.#unacknowledged.length > 0) {
      this.#stage.advance(1);
      await this.send();
    }
  }

  async playToEnd(): Promise<void> {
    if (!this.#isStarted) await this.send();
    while (!this.isAtEnd) {
      this.playOn();
      await this.send();
    }
  }
}

interface SendOptions {
  isLost?: boolean;
  closed?: "tap" | "page-hidden";
  order?: (reports: ProgressReport[]) => ProgressReport[];
}

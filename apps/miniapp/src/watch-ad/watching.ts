import type { OpenSessionResponse, PlaybackFault } from "@intermission/ad-core/player-api";
import { beaconReports, reportFault, sendReports } from "../ad-service-client.ts";
import type { Host } from "../telegram/host.ts";
import { afterPaint } from "../ui/after-paint.ts";
import { type Collecting, collectRanges, type PlayerEvent } from "./collect-ranges.ts";
import type { PlayerSnapshot } from "./describe-playback.ts";
import { Player } from "./player.ts";
import { ReportQueue } from "./report-queue.ts";
import { watchPresence } from "./watch-presence.ts";

export type Session = Extract<OpenSessionResponse, { outcome: "session" }>;

/**
 * offer → playing → confirming (played to the end, not yet confirmed by the service) → watched → closed.
 * `limited`: the user earned elsewhere since the ad was opened, so it may not start now. `incomplete`: the service lacks a
 * played range. `broken`: the video does not play, and the next opening delivers another one. `left`: the user gave up the
 * reward. `superseded`, `over`: the service accepts no more calls from this window.
 */
export type Stage =
  | "offer"
  | "playing"
  | "confirming"
  | "watched"
  | "closed"
  | "limited"
  | "incomplete"
  | "broken"
  | "left"
  | "superseded"
  | "over";

export interface WatchingSnapshot {
  readonly stage: Stage;
  readonly player: PlayerSnapshot;
  readonly isConnected: boolean;
  readonly isAskedToLeave: boolean;
}

/** The user's actions. */
export type WatchingActions = Pick<Watching, "play" | "pause" | "setMuted" | "askToClose" | "stay" | "leave" | "close">;

/** One opening of one ad, from the offer to its close: the player, its reports and the service's responses. */
export class Watching {
  private readonly host: Host;
  private readonly player: Player;
  private readonly queue: ReportQueue;
  private readonly listeners = new Set<() => void>();
  private readonly stop = new AbortController();
  private collecting: Collecting;
  private isHere = true;
  private snapshot: WatchingSnapshot;
  private isTelling = false;

  constructor(session: Session, video: HTMLVideoElement, host: Host) {
    this.host = host;
    const { session_id: sessionId, token, ad } = session;
    this.collecting = { durationMs: ad.duration_ms, nextSequence: session.first_sequence, open: null };
    this.queue = new ReportQueue({
      send: (call) => sendReports(sessionId, { token, ...call }),
      beacon: (call) => beaconReports(sessionId, { token, ...call }),
      onAnswer: ({ state }) => this.onServiceState(state),
      onRefused: (code) => this.onRefused(code),
      onConnection: (isConnected) => this.set({ isConnected }),
    });
    this.player = new Player(video, {
      resumeAtMs: session.resume_at_ms,
      durationMs: ad.duration_ms,
      lighter: (ad.lighter_media ?? []).map(({ url }) => url),
      isHere: () => this.isHere,
      onStart: () => this.queue.start(),
      onEvent: (event) => this.onPlayerEvent(event),
      onEnd: () => this.onEnd(),
      onFault: (fault) => this.onFault(sessionId, { token, fault }),
      onChange: (player) => this.set({ player }),
    });
    this.snapshot = { stage: "offer", player: this.player.snapshot, isConnected: true, isAskedToLeave: false };
    const stopPresence = watchPresence(host, (isHere) => this.onPresence(isHere));
    this.stop.signal.addEventListener("abort", stopPresence);
    const listening = { signal: this.stop.signal };
    const onPageHide = () => {
      // Includes everything played until now, whatever the presence signals reported before.
      this.player.hold("away");
      this.queue.leave("page-hidden");
    };
    window.addEventListener("pagehide", onPageHide, listening);
    window.addEventListener("online", () => this.queue.flush(), listening);
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly getSnapshot = (): WatchingSnapshot => this.snapshot;

  /** The start tap, and each later tap that requests playback. */
  readonly play = (): void => {
    if (this.snapshot.stage === "offer") {
      this.host.holdOpen(true);
      this.set({ stage: "playing" });
    }
    this.player.release("paused");
    this.player.release("away");
    this.player.start();
  };

  readonly pause = (): void => this.player.hold("paused");
  readonly setMuted = (isMuted: boolean): void => this.player.setMuted(isMuted);

  /** The close button and Telegram's back button: asks for confirmation while the reward can still be lost. */
  readonly askToClose = (): void => {
    if (this.snapshot.isAskedToLeave) this.stay();
    else if (this.snapshot.stage === "playing") {
      this.player.hold("dialog");
      this.set({ isAskedToLeave: true });
    } else this.close();
  };

  readonly stay = (): void => {
    this.set({ isAskedToLeave: false });
    this.player.release("dialog");
  };

  /** Gives up the reward. */
  readonly leave = (): void => {
    this.set({ isAskedToLeave: false });
    this.finish("left");
    this.queue.close();
    this.host.close();
  };

  /** Closes after the end. The call carries all unacknowledged reports, so the user need not wait for them. */
  readonly close = (): void => {
    this.finish("closed");
    this.queue.close();
  };

  destroy(): void {
    this.stop.abort();
    this.player.destroy();
    this.queue.stop();
    this.host.holdOpen(false);
    this.listeners.clear();
  }

  private onPlayerEvent(event: PlayerEvent): void {
    const { collecting, reports } = collectRanges(this.collecting, event);
    this.collecting = collecting;
    this.queue.add(reports);
  }

  private onEnd(): void {
    if (this.snapshot.stage === "playing") this.set({ stage: "confirming" });
    this.queue.flush();
  }

  /** Ends the ad as broken, unless it plays by then or the service does not answer: then the player keeps trying. */
  private async onFault(sessionId: string, report: { token: string; fault: PlaybackFault }): Promise<void> {
    const answer = await reportFault(sessionId, report);
    const isAnother = answer.outcome === "answered" && answer.body.next_opening === "another-ad";
    if (!isAnother || this.stop.signal.aborted) return;
    const { stage, player } = this.snapshot;
    const isTooShort = report.fault === "too-short" && (stage === "playing" || stage === "confirming");
    if (isTooShort || (stage === "playing" && player.playback !== "playing")) this.finish("broken");
  }

  private onPresence(isHere: boolean): void {
    if (isHere === this.isHere) return;
    this.isHere = isHere;
    if (isHere) {
      this.player.release("away");
    } else {
      this.player.hold("away");
      this.queue.leave();
    }
  }

  private onServiceState(state: Session["state"]): void {
    const { stage } = this.snapshot;
    const isDone = state === "watched" || state === "rewarded";
    if (isDone && (stage === "playing" || stage === "confirming")) {
      this.player.release("dialog");
      this.host.holdOpen(false);
      this.set({ stage: "watched", isAskedToLeave: false });
      this.host.haptic("success");
    } else if (!isDone && stage === "confirming" && this.queue.isSettled) this.finish("incomplete");
  }

  private onRefused(code: string): void {
    if (this.snapshot.stage === "closed" || this.snapshot.stage === "left") return;
    if (code === "LIMIT_REACHED") this.finish("limited");
    else this.finish(code === "SESSION_OVER" ? "over" : "superseded");
  }

  private finish(stage: Stage): void {
    this.player.hold("over");
    // Also releases what the player took from the device, such as the media keys.
    this.player.destroy();
    this.host.holdOpen(false);
    this.set({ stage, isAskedToLeave: false });
  }

  private set(change: Partial<WatchingSnapshot>): void {
    this.snapshot = { ...this.snapshot, ...change };
    if (this.isTelling) return;
    this.isTelling = true;
    afterPaint(() => {
      this.isTelling = false;
      for (const listener of this.listeners) listener();
    });
  }
}

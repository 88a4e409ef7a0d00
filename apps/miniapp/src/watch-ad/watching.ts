import type { OpenSessionResponse, ReportRefusal } from "@intermission/ad-core/player-api";
import type { PlaybackFault } from "@intermission/ad-core/wire-fields";
import { type ViewCalls, viewCalls } from "../ad-service-client.ts";
import type { Host } from "../telegram/host.ts";
import { type Collecting, collectRanges, type PlayerEvent } from "./collect-ranges.ts";
import { Patience } from "./patience.ts";
import { Player } from "./player.ts";
import { ReportQueue } from "./report-queue.ts";
import { isSoundChosen, rememberSound } from "./sound-choice.ts";
import { layoutSize, type Size } from "./video-element.ts";
import { watchPresence } from "./watch-presence.ts";
import {
  type Hold,
  initialState,
  isOver,
  type Playback,
  playbackOf,
  type Stage,
  transition,
  type WatchEvent,
} from "./watch-state.ts";

const eventsOfRefusals = {
  LIMIT_REACHED: "limited",
  SESSION_OVER: "over",
  SESSION_UNKNOWN: "superseded",
  SUPERSEDED: "superseded",
} as const satisfies Record<ReportRefusal, WatchEvent>;

/** Captions change at any moment; the seconds left are enough for the rest. */
const CAPTION_STEP_MS = 125;

export type Session = Extract<OpenSessionResponse, { outcome: "session" }>;

export interface WatchingSnapshot {
  readonly stage: Stage;
  readonly playback: Playback;
  readonly holds: ReadonlySet<Hold>;
  readonly positionMs: number;
  readonly isMuted: boolean;
  readonly isConnected: boolean;
  /** False if the service will hold or refuse the view: no reward may be announced. */
  readonly isPayable: boolean;
  /** What the video is laid out for. */
  readonly size: Size;
  /** An interstitial has not moved for as long as the user waits for its button. */
  readonly isStuck?: boolean;
}

/** The user's actions. */
export type WatchingActions = Pick<
  Watching,
  "play" | "pause" | "setMuted" | "goOutside" | "openAbout" | "closeAbout" | "askToClose" | "stay" | "leave" | "close"
>;

/**
 * One opening of one ad, from the offer to its close. Each event goes through `transition`; this class does what the new
 * state requires of the player, the report queue and Telegram. The constructor has no effect.
 */
export class Watching {
  private readonly session: Session;
  private readonly host: Host;
  private readonly calls: ViewCalls;
  private readonly player: Player;
  private queue: ReportQueue;
  private collecting: Collecting;
  private state = initialState;
  private isHere = true;
  private isConnected = true;
  private isPayable = true;
  private readonly patience: Patience | undefined;
  private stop = new AbortController();
  /** The last snapshot of `onChange`, with its position in steps. */
  private shown: string | undefined;
  private onChange: ((snapshot: WatchingSnapshot) => void) | undefined;

  constructor(session: Session, video: HTMLVideoElement, host: Host, calls: ViewCalls = viewCalls) {
    this.session = session;
    this.host = host;
    this.calls = calls;
    const { ad } = session;
    if (import.meta.env.IN_APP && session.skip_after_ms !== undefined)
      this.patience = new Patience(session.skip_after_ms, () => this.publish());
    this.collecting = { durationMs: ad.duration_ms, nextSequence: session.first_sequence, open: null };
    this.queue = this.newQueue();
    this.player = new Player(video, {
      resumeAtMs: session.resume_at_ms,
      durationMs: ad.duration_ms,
      lighter: (ad.lighter_media ?? []).map(({ url }) => url),
      isHere: () => this.isHere,
      state: () => this.state,
      dispatch: (event) => this.dispatch(event),
      onStart: () => this.queue.start(),
      onPlayed: (event) => this.onPlayed(event),
      onFault: (fault) => this.onFault(fault),
      onChange: () => this.publish(),
    });
  }

  /**
   * Takes the video and listens until the returned function is called. `onChange` is called at once for each change that is
   * seen: the position changes each second.
   */
  start(onChange: (snapshot: WatchingSnapshot) => void): () => void {
    this.onChange = onChange;
    this.shown = undefined;
    this.stop = new AbortController();
    this.queue = this.newQueue();
    const isOfferSkipped = this.session.bot.skip_offer === true && this.state.stage === "offer";
    // Without a tap, browsers play only without sound.
    const mayHaveSound = !isOfferSkipped || navigator.userActivation?.hasBeenActive;
    this.player.setMuted(!isSoundChosen() || !mayHaveSound);
    this.player.attach();
    if (isOfferSkipped) {
      const begin = setTimeout(this.play);
      this.stop.signal.addEventListener("abort", () => clearTimeout(begin));
    }
    const stopPresence = watchPresence(this.host, (isHere) => this.onPresence(isHere));
    this.stop.signal.addEventListener("abort", stopPresence);
    const listening = { signal: this.stop.signal };
    const onPageHide = () => {
      // Includes everything played until now, whatever the presence signals reported before.
      this.dispatch("away");
      this.queue.leave("page-hidden");
    };
    window.addEventListener("pagehide", onPageHide, listening);
    window.addEventListener("online", () => this.queue.flush(), listening);
    this.publish();
    return () => {
      this.onChange = undefined;
      this.stop.abort();
      if (import.meta.env.IN_APP) this.patience?.end();
      this.release();
      this.queue.stop();
    };
  }

  get snapshot(): WatchingSnapshot {
    const { stage, holds } = this.state;
    const { positionMs, isMoving, picture } = this.player;
    // Before the start the video is still as the early start created it.
    const isMuted = stage === "offer" ? !isSoundChosen() : this.player.isMuted;
    return {
      stage,
      holds,
      playback: playbackOf(this.state, isMoving),
      positionMs,
      isMuted,
      isConnected: this.isConnected,
      isPayable: this.isPayable,
      size: layoutSize(this.session.ad, picture),
      ...(import.meta.env.IN_APP && { isStuck: this.patience?.isStuck === true }),
    };
  }

  /** The start tap, and each later tap that requests playback. */
  readonly play = (): void => {
    this.player.prepare();
    this.dispatch("play");
    this.player.checkLength();
  };

  readonly pause = (): void => this.dispatch("pause");

  /** Call it only inside a tap. The choice holds for the next ads, too. */
  readonly setMuted = (isMuted: boolean): void => {
    rememberSound(!isMuted);
    this.player.setMuted(isMuted);
    this.publish();
  };

  /** The call to action was tapped: its page may cover this one, so the ad waits until the user is back. */
  readonly goOutside = (): void => this.dispatch("outside");

  /** The label "Ad" was tapped: the ad waits while the user reads about it. */
  readonly openAbout = (): void => this.dispatch("about");
  readonly closeAbout = (): void => this.dispatch("about-closed");

  /** The close button and Telegram's back button: asks for confirmation while the reward can still be lost. */
  readonly askToClose = (): void => this.dispatch("ask-to-close");
  readonly stay = (): void => this.dispatch("stay");

  /** Gives up the reward. */
  readonly leave = (): void => this.dispatch("leave");

  /** Closes after the end. The call carries all unacknowledged reports, so the user need not wait for them. */
  readonly close = (): void => this.dispatch("close");

  private dispatch(event: WatchEvent): void {
    const before = this.state;
    this.state = transition(before, event);
    this.player.follow(before);
    if (this.state.stage !== before.stage) this.enter(this.state.stage);
    if (this.state !== before) this.publish();
  }

  /** What a new stage requires of the rest of the app. */
  private enter(stage: Stage): void {
    if (import.meta.env.IN_APP) this.host.onNews?.({ phase: "stage", stage, positionMs: this.player.positionMs });
    if (stage === "playing") {
      this.host.holdOpen(true);
    } else if (stage === "confirming") {
      this.queue.flush();
      if (import.meta.env.IN_APP && this.patience?.isCharged) this.dispatch("confirmed");
    } else if (stage === "watched") {
      this.host.holdOpen(false);
      this.host.haptic("success");
    }
    if (!isOver(this.state)) return;
    this.release();
    if (stage === "closed" || stage === "left") this.queue.close();
    if (stage === "left") this.host.close();
  }

  /** Releases what the ad took from the device, such as the media keys. */
  private release(): void {
    this.player.detach();
    this.host.holdOpen(false);
  }

  private newQueue(): ReportQueue {
    const { session_id: sessionId, token } = this.session;
    return new ReportQueue({
      send: (call) => this.calls.sendReports(sessionId, { token, picture: this.player.picture, ...call }),
      beacon: (call) => this.calls.beaconReports(sessionId, { token, picture: this.player.picture, ...call }),
      onAnswer: ({ state, review }) => {
        this.isPayable = review === undefined;
        this.onServiceState(state);
      },
      onRefused: (code) => this.onRefused(code),
      onConnection: (isConnected) => {
        this.isConnected = isConnected;
        this.publish();
      },
    });
  }

  private onPlayed(event: PlayerEvent): void {
    if (import.meta.env.IN_APP && event.type !== "jumped")
      event = { ...event, moment: { ...event.moment, frame: this.host.frame?.() } };
    const { collecting, reports } = collectRanges(this.collecting, event);
    this.collecting = collecting;
    this.queue.add(reports, event.type === "moved" && event.moment.positionMs < collecting.durationMs);
  }

  /** Ends the ad as broken, unless it plays by then or the service does not answer: then the player keeps trying. */
  private async onFault(fault: PlaybackFault): Promise<void> {
    const { session_id: sessionId, token } = this.session;
    const answer = await this.calls.reportFault(sessionId, { token, fault });
    const isAnother = answer.outcome === "answered" && answer.body.next_opening === "another-ad";
    if (!isAnother || this.stop.signal.aborted) return;
    const { stage, playback } = this.snapshot;
    if (fault === "too-short" || (stage === "playing" && playback !== "playing")) this.dispatch("broken");
  }

  private onPresence(isHere: boolean): void {
    // A touch of the page means that the user is back, also where no event has said that they had left.
    if (isHere === this.isHere && !(isHere && this.state.holds.has("outside"))) return;
    this.isHere = isHere;
    this.dispatch(isHere ? "here" : "away");
    if (!isHere) this.queue.leave();
  }

  private onServiceState(state: Session["state"]): void {
    const isWatched = state === "watched" || state === "rewarded";
    // An interstitial is charged before its end.
    if (import.meta.env.IN_APP && this.patience && this.state.stage === "playing") {
      this.patience.isCharged ||= isWatched;
      return;
    }
    if (isWatched) this.dispatch("confirmed");
    else if (this.queue.isSettled) this.dispatch("incomplete");
  }

  private onRefused(code: string): void {
    this.dispatch(Object.hasOwn(eventsOfRefusals, code) ? eventsOfRefusals[code as ReportRefusal] : "superseded");
  }

  /** Only what changes the screen: the video's clock is heard eight times a second, and each rendering costs a slow phone. */
  private publish(): void {
    if (import.meta.env.IN_APP) this.patience?.watch(this.snapshot);
    const { snapshot } = this;
    const { duration_ms: durationMs, captions } = this.session.ad;
    const stepMs = captions ? CAPTION_STEP_MS : 1000;
    const step = Math.ceil((durationMs - snapshot.positionMs) / stepMs);
    const shown = JSON.stringify({ ...snapshot, holds: [...snapshot.holds], positionMs: step });
    if (shown === this.shown) return;
    this.shown = shown;
    this.onChange?.(snapshot);
  }
}

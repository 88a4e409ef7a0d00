import type { StageNews } from "../telegram/host-news.ts";

/**
 * offer → playing → confirming (played to the end, not yet confirmed by the service) → watched → closed.
 * `limited`: the user earned elsewhere since the ad was opened, so it may not start now. `incomplete`: the service lacks a
 * played range. `broken`: the video does not play, and the next opening delivers another one. `left`: the user gave up the
 * reward. `superseded`, `over`: the service accepts no more calls from this window.
 */
export type Stage = StageNews;

/**
 * What the video does while nothing holds it. `waiting`: it should play and does not yet. `running`: it plays, and its time
 * is reported. `blocked`: the browser requires a tap. `stalled`: the player gave up loading until the user taps again.
 */
export type Motion = "idle" | "waiting" | "running" | "blocked" | "stalled" | "ended";

/**
 * Why the video is held although the user started it. It continues when no hold is left. `outside`: the user followed the
 * call to action, and is not back yet. `about`: the user reads about the ad, also before and after the video.
 */
export type Hold = "paused" | "dialog" | "about" | "away" | "outside";

export interface WatchState {
  readonly stage: Stage;
  readonly motion: Motion;
  readonly holds: ReadonlySet<Hold>;
}

export type WatchEvent =
  // Taps. `play` is the first tap and each later one that requests playback.
  | "play"
  | "pause"
  | "ask-to-close"
  | "stay"
  | "leave"
  | "close"
  | "outside"
  | "about"
  | "about-closed"
  // Whether the user is looking at the page.
  | "here"
  | "away"
  // The video. `stopped`: the system paused it. `reloading`: its file is loaded again.
  | "running"
  | "stopped"
  | "rejected"
  | "reloading"
  | "stalled"
  | "ended"
  // The service.
  | "confirmed"
  | "incomplete"
  | "broken"
  | "limited"
  | "superseded"
  | "over";

export const initialState: WatchState = { stage: "offer", motion: "idle", holds: new Set() };

/** Whether the video should be playing. While it is blocked, it may start at any time. */
export function shouldPlay({ stage, motion, holds }: WatchState): boolean {
  return (stage === "playing" || stage === "confirming") && canMove[motion] && holds.size === 0;
}

const canMove = {
  idle: false,
  waiting: true,
  running: true,
  blocked: true,
  stalled: false,
  ended: false,
} satisfies Record<Motion, boolean>;

/** Whether the ad is over for this window: nothing changes any more. */
export function isOver({ stage }: WatchState): boolean {
  return stage !== "offer" && stage !== "playing" && stage !== "confirming" && stage !== "watched";
}

/** Returns the same object if the event has no effect in this state. */
export function transition(state: WatchState, event: WatchEvent): WatchState {
  if (isOver(state)) return state;
  const { stage, motion, holds } = state;
  const isMoving = shouldPlay(state);
  switch (event) {
    case "play": {
      if (stage === "watched") return state;
      const isRunning = motion === "running" || motion === "ended";
      const started = { stage: stage === "offer" ? "playing" : stage, motion: isRunning ? motion : "waiting" } as const;
      return change(state, { ...started, holds: without(holds, "paused", "about", "away", "outside") });
    }
    case "pause":
      return stage === "playing" ? held(state, "paused") : state;
    case "ask-to-close":
      if (holds.has("dialog")) return released(state, "dialog");
      if (holds.has("about")) return released(state, "about");
      if (stage === "playing") return held(state, "dialog");
      return stage === "offer" ? state : change(state, { stage: "closed" });
    case "stay":
      return released(state, "dialog");
    case "leave":
      return holds.has("dialog") ? change(state, { stage: "left", holds: without(holds, "dialog") }) : state;
    case "close":
      return stage === "confirming" || stage === "watched" ? change(state, { stage: "closed" }) : state;
    case "outside":
      return stage === "playing" ? held(state, "outside") : state;
    case "about":
      return holds.has("dialog") ? state : held(state, "about");
    case "about-closed":
      return released(state, "about");
    case "here":
      return released(state, "away", "outside");
    case "away":
      return held(state, "away");
    case "running":
      return isMoving ? change(state, { motion: "running" }) : state;
    case "stopped":
      return isMoving && motion === "running" ? change(state, { motion: "blocked" }) : state;
    case "rejected":
      return isMoving ? change(state, { motion: "blocked" }) : state;
    case "reloading":
      return motion === "running" ? change(state, { motion: "waiting" }) : state;
    case "stalled":
      return isMoving ? change(state, { motion: "stalled" }) : state;
    case "ended":
      if (motion === "idle") return state;
      // Nothing can be lost any more, so the question is withdrawn.
      return change(state, {
        stage: stage === "playing" ? "confirming" : stage,
        motion: "ended",
        holds: without(holds, "dialog"),
      });
    case "confirmed":
      if (stage !== "playing" && stage !== "confirming") return state;
      return change(state, { stage: "watched", motion: rest(motion), holds: without(holds, "dialog") });
    case "incomplete":
      return stage === "confirming" ? finished(state, event) : state;
    case "broken":
      return stage === "playing" || stage === "confirming" ? finished(state, event) : state;
    case "limited":
    case "superseded":
    case "over":
      return finished(state, event);
  }
}

function held(state: WatchState, hold: Hold): WatchState {
  return change(state, { motion: rest(state.motion), holds: new Set([...state.holds, hold]) });
}

/** A video that the browser blocked is tried again when its last hold is released. */
function released(state: WatchState, ...released: Hold[]): WatchState {
  if (!released.some((hold) => state.holds.has(hold))) return state;
  const holds = without(state.holds, ...released);
  return change(state, { motion: holds.size === 0 && state.motion === "blocked" ? "waiting" : state.motion, holds });
}

function finished(state: WatchState, stage: Stage): WatchState {
  return change(state, { stage, motion: rest(state.motion), holds: without(state.holds, "dialog", "about") });
}

function rest(motion: Motion): Motion {
  return motion === "running" ? "waiting" : motion;
}

function without(holds: ReadonlySet<Hold>, ...released: Hold[]): ReadonlySet<Hold> {
  return new Set([...holds].filter((hold) => !released.includes(hold)));
}

function change(state: WatchState, to: Partial<WatchState>): WatchState {
  const next = { ...state, ...to };
  const isSame = next.stage === state.stage && next.motion === state.motion && next.holds.size === state.holds.size;
  // One event either adds or removes holds, so equal sizes mean equal sets.
  return isSame ? state : next;
}

/** The playback to show; `isMoving`: the picture moves. The most final reason takes precedence. */
export type Playback = "idle" | "playing" | "buffering" | "held" | "blocked" | "stalled" | "ended";

export function playbackOf({ motion, holds }: WatchState, isMoving: boolean): Playback {
  if (motion === "ended" || motion === "idle" || motion === "stalled") return motion;
  if (holds.size > 0) return "held";
  if (motion === "blocked") return "blocked";
  return motion === "running" && isMoving ? "playing" : "buffering";
}

import { isFrameInView } from "@intermission/ad-core/frame-in-view";
import type { ProgressReport } from "@intermission/ad-core/player-api";
import { reportStepMs } from "@intermission/ad-core/report-steps";
import { type ViewSuspicion, viewSuspicions } from "@intermission/operator-api/suspicions";
import { expectedFrames, type FramesBySecond } from "./expected-frames.ts";

/** What a view's reports show beyond the clock's evidence, summed up as they are settled. Stored with the view. */
export interface ViewingSignals {
  /** Playback that was reported while the page was in the background. */
  hiddenMs: number;
  visibleMs: number;
  /** Visible playback for which the player counts frames, the number of them, and how many the file has there. */
  countedMs: number;
  frames: number;
  expectedFrames: number;
  /** The part of it in which the picture moves, and the part of that without a single frame. */
  movingMs: number;
  framelessMs: number;
  /** Played ranges, and how many of them begin and end on whole tenths of a second. */
  ranges: number;
  evenRanges: number;
  /** The first call with reports: its time, and how much of the video it claimed. */
  firstAtMs: number | null;
  firstClaimedMs: number;
  /** The most by which later claims ran ahead of the time since the first call. */
  leadMs: number;
  /** Calls that brought anything new, and how many of them brought all quartiles at once. */
  calls: number;
  atOnce: number;
  /** 1 if the server heard of the whole view within a moment. */
  unheard: number;
  /** Playback in a frame of which too little was on the screen, and in one that something covered. */
  outOfViewMs: number;
  coveredMs: number;
}

export const noSignals: ViewingSignals = {
  hiddenMs: 0,
  visibleMs: 0,
  countedMs: 0,
  frames: 0,
  expectedFrames: 0,
  movingMs: 0,
  framelessMs: 0,
  ranges: 0,
  evenRanges: 0,
  firstAtMs: null,
  firstClaimedMs: 0,
  leadMs: 0,
  calls: 0,
  atOnce: 0,
  unheard: 0,
  outOfViewMs: 0,
  coveredMs: 0,
};

/** Less than this is no evidence: a single range may be odd. */
const MIN_MS = 3000;
const MAX_FRAMES_PER_SECOND = 240;
/**
 * Browsers decode up to ten frames ahead, and count them then. At more than this rate those are less than `MIN_MS` of the
 * video; at a lower one, a range may have none of its frames left to count.
 */
const MIN_MOVING_RATE = 4;
/** Chromium decodes four frames before playback: a player that counts from then on may count no frame of four slides. */
const MAX_FRAMES_BEFORE_PLAYBACK = 4;
/** A slow network may delay a call by this much, so that the next call seems to claim that much too fast. */
const MAX_LEAD_MS = 10_000;
/** A media clock shows a whole tenth of a second once in a hundred times, so eight such ranges are no coincidence. */
const MIN_RANGES = 8;
const EVEN_MS = 100;
/** A player reports each quartile when it is reached. */
const QUARTILES = 3;
const QUARTILES_SHARE = 0.75;
/** A view was not really played if its calls span less than this share of its length. */
const MIN_HEARD_SHARE = 0.1;
/** The maximum of a four-byte column; honest sums are far below. */
const MAX_STORED = 2 ** 31 - 1;

/**
 * Adds one call: the reports that it settled, and the total claimed so far. A player that starts late, or reconnects after
 * minutes without a network, claims much in its first call; after that, its claims grow no faster than time passes. `file`:
 * undefined if the service has not seen the video.
 */
export function gatherSignals(
  signals: ViewingSignals,
  { settled, claimedMs }: { settled: readonly ProgressReport[]; claimedMs: number },
  file: FramesBySecond | undefined,
  now: Date,
): ViewingSignals {
  const gathered = settled.reduce((sums, report) => addReport(sums, report, file), signals);
  if (claimedMs === 0) return gathered;
  if (gathered.firstAtMs === null) return { ...gathered, firstAtMs: now.getTime(), firstClaimedMs: claimedMs };
  const leadMs = claimedMs - gathered.firstClaimedMs - (now.getTime() - gathered.firstAtMs);
  return { ...gathered, leadMs: Math.max(gathered.leadMs, leadMs) };
}

/** A player notices the end of a step, and the server gets its call, up to so much later. */
const REPORT_DELAY_MS = 500;
const firstReportMs = (durationMs: number) => reportStepMs(durationMs) + REPORT_DELAY_MS;

/**
 * Adds what one call says of the player: whether it reports while it plays. The call of the start and the beacon of a page
 * that goes away carry what a bad network held back; one call that is all that the server hears could come from any script.
 */
export function gatherCall(
  signals: ViewingSignals,
  call: {
    claimedBeforeMs: number;
    claimedMs: number;
    durationMs: number;
    /** Of an interstitial, which is watched then. */
    chargedAfterMs: number | null;
    isStart: boolean;
    isBeacon: boolean;
    isComplete: boolean;
    now: Date;
  },
): ViewingSignals {
  const { durationMs, chargedAfterMs, now } = call;
  const addedMs = call.claimedMs - call.claimedBeforeMs;
  if (addedMs <= 0) return signals;
  const heardMs = now.getTime() - (signals.firstAtMs ?? now.getTime());
  const neededMs = Math.min(durationMs, chargedAfterMs ?? durationMs);
  // A player's first call may complete an interstitial, or leave too little time before a tap on "Skip" to be heard again.
  const expected = chargedAfterMs === null ? QUARTILES : Math.ceil(neededMs / reportStepMs(durationMs));
  const isMost = addedMs >= neededMs * QUARTILES_SHARE;
  const isAtOnce = !call.isBeacon && !call.isStart && isMost && expected >= QUARTILES;
  const isSilent = call.isComplete && heardMs < neededMs * MIN_HEARD_SHARE;
  const leavesTime = chargedAfterMs === null || firstReportMs(durationMs) <= neededMs * (1 - MIN_HEARD_SHARE);
  const isUnheard = (!call.isBeacon || call.isStart) && isSilent && leavesTime;
  return {
    ...signals,
    calls: signals.calls + 1,
    atOnce: signals.atOnce + Number(isAtOnce),
    unheard: Math.max(signals.unheard, Number(isUnheard)),
  };
}

/** The place of each signal in the stored numbers. A new one gets the next place: older views lack it. */
const places = {
  hiddenMs: 0,
  visibleMs: 1,
  countedMs: 2,
  frames: 3,
  expectedFrames: 4,
  movingMs: 5,
  framelessMs: 6,
  ranges: 7,
  evenRanges: 8,
  firstAtMs: 9,
  firstClaimedMs: 10,
  leadMs: 11,
  calls: 12,
  atOnce: 13,
  unheard: 14,
  outOfViewMs: 15,
  coveredMs: 16,
} satisfies Record<keyof ViewingSignals, number>;

const storedOrder = (Object.keys(places) as (keyof ViewingSignals)[]).toSorted((a, b) => places[a] - places[b]);

/** The number that is stored for a `firstAtMs` of null; else it is stored as the time since the view was opened. */
const NO_FIRST = -1;

/** The stored form. An array, because each report rewrites the row, which is shorter without the names. */
export function numbersOf(signals: ViewingSignals, openedAt: Date): number[] {
  const { firstAtMs } = signals;
  const first = firstAtMs === null ? NO_FIRST : Math.max(0, firstAtMs - openedAt.getTime());
  return storedOrder.map((name) => {
    const value = name === "firstAtMs" ? first : signals[name];
    return Math.min(Math.trunc(value), MAX_STORED);
  });
}

export function signalsOf(numbers: readonly number[], openedAt: Date): ViewingSignals {
  const numberOf = (name: keyof ViewingSignals, index: number) => numbers[index] ?? noSignals[name] ?? NO_FIRST;
  const stored = Object.fromEntries(storedOrder.map((name, index) => [name, numberOf(name, index)]));
  const { firstAtMs: first, ...others } = stored as Record<keyof ViewingSignals, number>;
  return { ...others, firstAtMs: first < 0 ? null : openedAt.getTime() + first };
}

/** The reasons to suspect a view, in a fixed order; empty for nearly all views. */
export function suspicionsOf(signals: ViewingSignals, file: FramesBySecond | undefined): ViewSuspicion[] {
  const { hiddenMs, visibleMs, countedMs, frames, ranges, evenRanges, leadMs, outOfViewMs, coveredMs } = signals;
  const isCounted = countedMs >= MIN_MS;
  const isTrue: Record<ViewSuspicion, boolean> = {
    "mostly-hidden": hiddenMs >= MIN_MS && hiddenMs > visibleMs,
    // The frame's own player waits until it is in view.
    "not-in-view": outOfViewMs >= MIN_MS,
    covered: coveredMs >= MIN_MS && coveredMs * 2 > visibleMs,
    "no-frames": isCounted && lacksFrames(signals, file),
    "too-many-frames": isCounted && frames * 1000 > countedMs * MAX_FRAMES_PER_SECOND,
    "faster-than-time": leadMs > MAX_LEAD_MS,
    "too-even": ranges >= MIN_RANGES && evenRanges === ranges,
    "too-few-calls": signals.unheard > 0 || (signals.atOnce > 0 && signals.calls < QUARTILES),
  };
  return viewSuspicions.filter((suspicion) => isTrue[suspicion]);
}

/**
 * Either no frame at all was rendered, although the file has more than may be rendered before playback; or none during half of
 * the time in which the picture moves. Each browser renders at least one frame of any video.
 */
function lacksFrames(
  { frames, expectedFrames, movingMs, framelessMs }: ViewingSignals,
  file: FramesBySecond | undefined,
): boolean {
  if (frames === 0 && (!file || expectedFrames > MAX_FRAMES_BEFORE_PLAYBACK)) return true;
  return framelessMs >= MIN_MS && framelessMs * 2 >= movingMs;
}

function addReport(signals: ViewingSignals, report: ProgressReport, file: FramesBySecond | undefined): ViewingSignals {
  const lengthMs = report.to_ms - report.from_ms;
  if (lengthMs <= 0) return signals;
  if (!report.visible) return { ...signals, hiddenMs: signals.hiddenMs + lengthMs };
  const { rendered_frames: frames, frame } = report;
  if (frame && !isFrameInView(frame)) return { ...signals, outOfViewMs: signals.outOfViewMs + lengthMs };
  const isEven = report.from_ms % EVEN_MS === 0 && report.to_ms % EVEN_MS === 0;
  const watched = {
    ...signals,
    visibleMs: signals.visibleMs + lengthMs,
    ranges: signals.ranges + 1,
    evenRanges: signals.evenRanges + (isEven ? 1 : 0),
    coveredMs: signals.coveredMs + (frame?.covered ? lengthMs : 0),
  };
  if (frames === undefined) return watched;
  const expected = file ? expectedFrames(file, [report.from_ms, report.to_ms]) : 0;
  const movingMs = expected * 1000 > MIN_MOVING_RATE * lengthMs ? lengthMs : 0;
  return {
    ...watched,
    countedMs: signals.countedMs + lengthMs,
    frames: signals.frames + frames,
    expectedFrames: signals.expectedFrames + expected,
    movingMs: signals.movingMs + movingMs,
    framelessMs: signals.framelessMs + (frames === 0 ? movingMs : 0),
  };
}

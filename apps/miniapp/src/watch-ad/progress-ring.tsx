import { useLayoutEffect, useRef } from "react";
import { isCalm } from "../ui/is-calm.ts";

interface ProgressRingProps {
  label: string;
  positionMs: number;
  durationMs: number;
  /** The video plays. */
  isRunning: boolean;
}

/** The position is published once a second; a ring that runs by itself is corrected only when it is this far off. */
const DRIFT_MS = 400;

/**
 * How much of the ad was watched: two half rings, each turned by an animation that runs without the main thread. Where
 * motion is unwanted, or the phone is slow, the ring moves once a second.
 */
export function ProgressRing({ label, positionMs, durationMs, isRunning }: ProgressRingProps) {
  const first = useRef<HTMLSpanElement>(null);
  const second = useRef<HTMLSpanElement>(null);
  const animations = useRef<readonly Animation[]>([]);
  useLayoutEffect(() => {
    if (!first.current || !second.current) return;
    const created = [
      first.current.animate(turns.first, timing(durationMs)),
      second.current.animate(turns.second, timing(durationMs)),
    ];
    for (const animation of created) animation.pause();
    animations.current = created;
    return () => {
      for (const animation of created) animation.cancel();
    };
  }, [durationMs]);
  useLayoutEffect(() => {
    const isSmooth = isRunning && !isCalm();
    const shownMs = isCalm() ? Math.floor(positionMs / 1000) * 1000 : positionMs;
    for (const animation of animations.current) {
      const drift = Math.abs(Number(animation.currentTime) - shownMs);
      if (drift > (isSmooth ? DRIFT_MS : 0)) animation.currentTime = Math.min(shownMs, durationMs);
      if (isSmooth && animation.playState === "paused") animation.play();
      if (!isSmooth && animation.playState !== "paused") animation.pause();
    }
  }, [positionMs, durationMs, isRunning]);
  const share = Math.min(1, positionMs / durationMs);
  return (
    <div
      className="ring"
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(share * 100)}
    >
      <span className="ring-half">
        <span className="ring-arc" ref={first} />
      </span>
      <span className="ring-half">
        <span className="ring-arc" ref={second} />
      </span>
    </div>
  );
}

const START = "rotate(45deg)";
const END = "rotate(225deg)";
/** In the first half of the ad the right half of the ring fills, then the left one. */
const turns = {
  first: [
    { transform: START, offset: 0 },
    { transform: END, offset: 0.25 },
    { transform: END, offset: 1 },
  ],
  second: [
    // Invisible until then: its edge would show as a hairline.
    { transform: START, opacity: 0, offset: 0 },
    { transform: START, opacity: 0, offset: 0.25 },
    { transform: START, opacity: 1, offset: 0.25 },
    { transform: END, opacity: 1, offset: 0.5 },
    { transform: END, opacity: 1, offset: 1 },
  ],
};

/** The ad is the first half of the animation: a video that ends late leaves the ring full. */
function timing(durationMs: number): KeyframeAnimationOptions {
  return { duration: 2 * durationMs, iterations: Number.POSITIVE_INFINITY };
}

import { useEffect } from "react";
import type { WatchingActions, WatchingSnapshot } from "./watching.ts";

/** On a desktop: space pauses and plays, M mutes and unmutes. Keys pressed on a button or a link are left to it. */
export function usePlayerKeys(actions: WatchingActions, { stage, isAskedToLeave, player }: WatchingSnapshot): void {
  const isRunning = player.playback === "playing" || player.playback === "buffering";
  const isListening = stage === "playing" && !isAskedToLeave;
  const { isMuted } = player;
  useEffect(() => {
    if (!isListening) return;
    const onKey = (event: KeyboardEvent) => {
      const isOfControl = event.target instanceof Element && event.target.closest("button, a") !== null;
      if (isOfControl || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.code === "Space") {
        event.preventDefault();
        if (isRunning) actions.pause();
        else actions.play();
      } else if (event.code === "KeyM") actions.setMuted(!isMuted);
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [actions, isListening, isRunning, isMuted]);
}

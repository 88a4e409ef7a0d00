import { bindNumbers } from "../locales/translate.ts";
import { useTranslator } from "../locales/use-translator.tsx";
import { Button } from "../ui/button.tsx";
import { interstitialWords } from "./interstitial-words.ts";
import type { Session, WatchingActions, WatchingSnapshot } from "./watching.ts";

/**
 * An ad between two scenes of a game: it rewards nobody, and may be skipped. Only the frame of a publisher's own mini-app shows
 * it, so that each use stands behind the build's constant `IN_APP`.
 */
export const isInterstitial = ({ skip_after_ms: skipAfterMs }: Session): boolean => skipAfterMs !== undefined;

/** Nobody is kept before a video that does not play; what was not watched is not charged. */
const canSkip = ({ skip_after_ms: skipAfterMs = 0 }: Session, snapshot: WatchingSnapshot): boolean =>
  snapshot.positionMs >= skipAfterMs ||
  snapshot.stage === "confirming" ||
  snapshot.isStuck === true ||
  snapshot.playback === "blocked" ||
  snapshot.playback === "stalled";

/** Telegram's back button, and the button below: nothing is lost, so that nobody is asked. */
export function leaveInterstitial(
  session: Session,
  { snapshot, askToClose, leave }: Pick<WatchingActions, "askToClose" | "leave"> & { snapshot: WatchingSnapshot },
): void {
  const { stage, holds } = snapshot;
  const isPlaying = stage === "playing" && !holds.has("about");
  if (isPlaying && !canSkip(session, snapshot)) return;
  askToClose();
  if (isPlaying) leave();
}

function useWord(name: keyof (typeof interstitialWords)["en"], count = 0): string {
  const { language } = useTranslator();
  const words = Object.entries(interstitialWords).find(([tag]) => tag === language)?.[1] ?? interstitialWords.en;
  return bindNumbers(words[name]).replace("{count}", count.toLocaleString(language === "uz" ? "ru" : language));
}

interface SkipProps {
  session: Session;
  snapshot: WatchingSnapshot;
  actions: WatchingActions;
}

/** In place of the reward: in how many seconds the ad may be skipped. */
export function SkipTimer({ session, snapshot }: Omit<SkipProps, "actions">) {
  const { skip_after_ms: skipAfterMs = 0 } = session;
  const text = useWord("skipIn", Math.max(1, Math.ceil((skipAfterMs - snapshot.positionMs) / 1000)));
  return canSkip(session, snapshot) ? null : <p role="timer">{text}</p>;
}

/** In place of the closing cross, once the ad may be skipped. Screen readers are told that it is there. */
export function SkipButton({ session, snapshot, actions }: SkipProps) {
  const skip = useWord("skip");
  const isThere = canSkip(session, snapshot);
  return (
    <>
      <span className="only-heard" role="status">
        {isThere ? skip : ""}
      </span>
      {isThere ? (
        <Button className="button skip" onClick={() => leaveInterstitial(session, { ...actions, snapshot })}>
          {skip}
        </Button>
      ) : null}
    </>
  );
}

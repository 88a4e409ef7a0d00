import { type CSSProperties, type ReactNode, startTransition, useCallback, useEffect, useState } from "react";
import type { ViewCalls } from "../ad-service-client.ts";
import type { Host } from "../telegram/host.ts";
import { useStateName, useStrayClick } from "../ui/hooks.ts";
import { EndCard, useEndCard } from "./end-card.tsx";
import { Interrupted } from "./interrupted.tsx";
import { isInterstitial, leaveInterstitial } from "./interstitial.tsx";
import { LeaveDialog } from "./leave-dialog.tsx";
import { Offer } from "./offer.tsx";
import { PlayerControls, secondsLeft } from "./player-controls.tsx";
import { type Session, Watching, type WatchingActions, type WatchingSnapshot } from "./watching.ts";

interface WatchAdProps {
  session: Session;
  video: HTMLVideoElement;
  host: Host;
  onReopen: () => void;
  /** Requests another ad. */
  onAnother: () => void;
  /** Replaces a video that does not play by another ad; undefined if that was tried. */
  onBroken?: (() => void) | undefined;
  /** The screen after the ad is closed. */
  status: ReactNode;
  /** What there is to know about the ad, over it. */
  about: (onClose: () => void) => ReactNode;
  /** Instead of the ad service's. */
  calls?: ViewCalls;
}

/** From the offer to the close. The video stays in one place of the tree, because moving it would pause it. */
export function WatchAd({ session, video, host, onReopen, onAnother, onBroken, status, about, calls }: WatchAdProps) {
  const [watching, snapshot] = useWatching(session, video, host, calls);
  const { stage, holds } = snapshot;
  const isOnStage = stage === "playing" || stage === "confirming" || stage === "watched";
  const hasBack = isOnStage || holds.has("about");
  useEffect(() => {
    if (!hasBack) return undefined;
    if (import.meta.env.IN_APP && isInterstitial(session))
      return host.onBack(() => leaveInterstitial(session, watching));
    return host.onBack(watching.askToClose);
  }, [hasBack, host, watching, session]);
  useEffect(() => (isOnStage ? host.immerse() : undefined), [isOnStage, host]);
  // Reopening shows the screen with the remaining wait.
  const isReplaced = stage === "broken" && onBroken !== undefined;
  useEffect(() => {
    if (stage === "limited") onReopen();
    if (isReplaced) onBroken();
  }, [stage, onReopen, isReplaced, onBroken]);
  // The frame is removed at once.
  if (import.meta.env.IN_APP && isInterstitial(session) && !isOnStage && stage !== "offer") return null;
  if (stage === "closed") return status;
  if (stage === "limited" || isReplaced) return null;
  if (!isOnStage && stage !== "offer") {
    return <Interrupted stage={stage} onClose={host.close} onReopen={onReopen} onAnother={onAnother} />;
  }
  const { width, height } = snapshot.size;
  return (
    <>
      <OnStage session={session} actions={watching} snapshot={snapshot} host={host}>
        <VideoSlot video={video} width={width} height={height} onTap={stage === "offer" ? watching.play : undefined} />
      </OnStage>
      {holds.has("about") ? about(watching.closeAbout) : null}
    </>
  );
}

/** One `Watching` per mounted component; key the component by the session's token. */
function useWatching(
  session: Session,
  video: HTMLVideoElement,
  host: Host,
  calls: ViewCalls | undefined,
): [Watching, WatchingSnapshot] {
  const [watching] = useState(() => new Watching(session, video, host, calls));
  const [snapshot, setSnapshot] = useState(() => watching.snapshot);
  useEffect(() => {
    let shown = watching.snapshot.stage;
    return watching.start((next) => {
      // Another stage is another screen: rendering it must not delay the visible response to the tap.
      if (next.stage === shown) setSnapshot(next);
      else startTransition(() => setSnapshot(next));
      shown = next.stage;
    });
  }, [watching]);
  return [watching, snapshot];
}

interface OnStageProps {
  session: Session;
  actions: WatchingActions;
  snapshot: WatchingSnapshot;
  host: Host;
  /** The video. */
  children: ReactNode;
}

/** All screens that contain the video. */
export function OnStage({ session, actions, snapshot, host, children }: OnStageProps) {
  const { stage, playback, holds, isMuted } = snapshot;
  const seconds = secondsLeft(session, snapshot);
  const endingAd = useEndCard(session.ad, stage !== "offer" && seconds < 4);
  const ad = stage === "watched" ? endingAd : session.ad;
  // An advertiser's picture replaces the video: of another shape, it would not cover the last frame.
  const isPicture = ad !== session.ad;
  const { width, height } = isPicture ? ad : snapshot.size;
  const { poster_url: poster } = ad;
  useStateName(stage);
  return (
    <main
      className="watch"
      data-stage={stage}
      data-playback={playback}
      data-shape={isPicture ? "picture" : width > height ? "wide" : "tall"}
      style={{ "--ratio": width / height } as CSSProperties}
    >
      {poster && stage !== "offer" ? <img className="backdrop" src={poster} alt="" /> : null}
      <div className="card">
        {isPicture ? null : children}
        {stage === "offer" && !session.bot.skip_offer ? (
          <Offer
            session={session}
            isMuted={isMuted}
            onSetMuted={actions.setMuted}
            onWatch={actions.play}
            onAbout={actions.openAbout}
          />
        ) : null}
        {stage === "playing" || stage === "confirming" ? (
          <PlayerControls session={session} actions={actions} snapshot={snapshot} host={host} />
        ) : null}
        {stage === "watched" ? (
          <EndCard
            session={session}
            ad={ad}
            host={host}
            isPayable={snapshot.isPayable && !(import.meta.env.IN_APP && isInterstitial(session))}
            isConnected={snapshot.isConnected}
            onAbout={actions.openAbout}
            onClose={actions.close}
          />
        ) : null}
      </div>
      {holds.has("dialog") && !(import.meta.env.IN_APP && isInterstitial(session)) ? (
        <LeaveDialog
          reward={session.rewards?.rewarded}
          seconds={seconds}
          onStay={actions.stay}
          onLeave={actions.leave}
        />
      ) : null}
    </main>
  );
}

interface VideoSlotProps {
  video: HTMLVideoElement;
  width: number;
  height: number;
  /** The picture of an offer is a second, larger target for the tap that starts it. */
  onTap?: (() => void) | undefined;
}

/** A slot for the video created before React: the element is moved in, never created again, so nothing loads twice. */
export function VideoSlot({ video, width, height, onTap }: VideoSlotProps) {
  const isStray = useStrayClick();
  const adopt = useCallback(
    (slot: HTMLDivElement | null) => {
      video.setAttribute("aria-hidden", "true");
      video.tabIndex = -1;
      if (!slot || slot.firstChild === video) return;
      slot.textContent = "";
      slot.append(video);
    },
    [video],
  );
  // Pointers only: the button of the offer has the same effect, and the focus.
  useEffect(() => {
    if (!onTap) return;
    const onClick = ({ detail }: MouseEvent) => isStray({ detail }) || onTap();
    video.addEventListener("click", onClick);
    return () => video.removeEventListener("click", onClick);
  }, [video, onTap, isStray]);
  return (
    <div
      className={onTap ? "video-slot video-button" : "video-slot"}
      ref={adopt}
      style={{ aspectRatio: `${width} / ${height}` }}
    />
  );
}

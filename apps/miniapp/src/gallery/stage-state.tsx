import { useState } from "react";
import { OnStage, VideoSlot } from "../watch-ad/watch-ad.tsx";
import type { Hold, Playback, Stage } from "../watch-ad/watch-state.ts";
import type { Session, WatchingActions } from "../watch-ad/watching.ts";
import { idleHost, portraitPoster, session as sample } from "./sample-session.ts";

interface StageStateProps {
  stage: Extract<Stage, "offer" | "playing" | "confirming" | "watched">;
  playback: Playback;
  hold?: Hold;
  isMuted?: boolean;
  isConnected?: boolean;
  isPayable?: boolean;
  isPortrait?: boolean;
  session?: Partial<Session>;
  ad?: Partial<Session["ad"]>;
  bot?: Partial<Session["bot"]>;
}

const nothing = () => {};
const actions: WatchingActions = {
  play: nothing,
  pause: nothing,
  setMuted: nothing,
  goOutside: nothing,
  openAbout: nothing,
  closeAbout: nothing,
  askToClose: nothing,
  stay: nothing,
  leave: nothing,
  close: nothing,
};

/** A fixed moment of an ad. */
export function StageState(props: StageStateProps) {
  const { stage, playback, hold, isMuted = true, isConnected = true, isPayable = true } = props;
  const isPortrait = props.isPortrait ?? false;
  const portrait = isPortrait && { width: 1080, height: 1920, poster_url: portraitPoster };
  const session: Session = {
    ...sample,
    ...props.session,
    ad: { ...sample.ad, ...portrait, ...props.ad },
    bot: { ...sample.bot, ...props.bot },
  };
  const [video] = useState(() => posterVideo(session.ad.poster_url));
  const isEnded = stage === "confirming" || stage === "watched";
  const snapshot = {
    stage,
    playback,
    isConnected,
    isMuted,
    isPayable,
    holds: new Set(hold ? [hold] : []),
    positionMs: isEnded ? 15_000 : 6000,
    size: session.ad,
  };
  return (
    <OnStage session={session} actions={actions} snapshot={snapshot} host={idleHost}>
      <VideoSlot
        video={video}
        width={session.ad.width}
        height={session.ad.height}
        onTap={stage === "offer" ? nothing : undefined}
      />
    </OnStage>
  );
}

function posterVideo(poster = ""): HTMLVideoElement {
  const video = document.createElement("video");
  video.className = "video";
  video.poster = poster;
  return video;
}

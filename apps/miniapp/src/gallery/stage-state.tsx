import { useState } from "react";
import type { Hold, Playback } from "../watch-ad/describe-playback.ts";
import { OnStage } from "../watch-ad/on-stage.tsx";
import { VideoSlot } from "../watch-ad/video-slot.tsx";
import type { Session, Stage, WatchingActions } from "../watch-ad/watching.ts";
import { idleHost, poster, session as sample } from "./sample-session.ts";

interface StageStateProps {
  stage: Extract<Stage, "offer" | "playing" | "confirming" | "watched">;
  playback: Playback;
  hold?: Hold;
  isMuted?: boolean;
  isConnected?: boolean;
  isAskedToLeave?: boolean;
  session?: Partial<Session>;
  ad?: Partial<Session["ad"]>;
  botName?: string;
}

const nothing = () => {};
const actions: WatchingActions = {
  play: nothing,
  pause: nothing,
  setMuted: nothing,
  askToClose: nothing,
  stay: nothing,
  leave: nothing,
  close: nothing,
};

/** A fixed moment of an ad. */
export function StageState(props: StageStateProps) {
  const { stage, playback, hold, isMuted = true, isConnected = true, isAskedToLeave = false } = props;
  const [video] = useState(posterVideo);
  const session: Session = {
    ...sample,
    ...props.session,
    ad: { ...sample.ad, ...props.ad },
    bot: { ...sample.bot, ...(props.botName && { name: props.botName }) },
  };
  const isEnded = stage === "confirming" || stage === "watched";
  const snapshot = {
    stage,
    isConnected,
    isAskedToLeave,
    player: { playback, holds: new Set(hold ? [hold] : []), isMuted, positionMs: isEnded ? 15_000 : 6000 },
  };
  return (
    <OnStage session={session} actions={actions} snapshot={snapshot} host={idleHost}>
      <VideoSlot video={video} width={session.ad.width} height={session.ad.height} />
    </OnStage>
  );
}

function posterVideo(): HTMLVideoElement {
  const video = document.createElement("video");
  video.className = "video";
  video.poster = poster;
  return video;
}

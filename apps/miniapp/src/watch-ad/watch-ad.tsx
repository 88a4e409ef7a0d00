import { type ReactNode, useEffect } from "react";
import type { Host } from "../telegram/host.ts";
import { Interrupted } from "./interrupted.tsx";
import { OnStage } from "./on-stage.tsx";
import { useWatching } from "./use-watching.ts";
import { VideoSlot } from "./video-slot.tsx";
import type { Session } from "./watching.ts";

interface WatchAdProps {
  session: Session;
  video: HTMLVideoElement;
  host: Host;
  onReopen: () => void;
  /** The screen after the ad is closed. */
  status: ReactNode;
}

/** From the offer to the close. The video stays in one place of the tree, because moving it would pause it. */
export function WatchAd({ session, video, host, onReopen, status }: WatchAdProps) {
  const [watching, snapshot] = useWatching(session, video, host);
  const { stage } = snapshot;
  const isOnStage = stage === "playing" || stage === "confirming" || stage === "watched";
  useEffect(() => (isOnStage ? host.onBack(watching.askToClose) : undefined), [isOnStage, host, watching]);
  // Reopening shows the screen with the remaining wait.
  useEffect(() => {
    if (stage === "limited") onReopen();
  }, [stage, onReopen]);
  if (stage === "closed") return status;
  if (stage === "limited") return null;
  if (!isOnStage && stage !== "offer") return <Interrupted stage={stage} onClose={host.close} onReopen={onReopen} />;
  return (
    <OnStage session={session} actions={watching} snapshot={snapshot} host={host}>
      <VideoSlot video={video} width={session.ad.width} height={session.ad.height} />
    </OnStage>
  );
}

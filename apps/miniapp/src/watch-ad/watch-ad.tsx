import { type ReactNode, useEffect } from "react";
import { useTranslator } from "../locales/use-translator.tsx";
import type { Host } from "../telegram/host.ts";
import { Button } from "../ui/button.tsx";
import { Notice } from "../ui/notice.tsx";
import { useStateName } from "../ui/use-state-name.ts";
import { LeaveDialog } from "./leave-dialog.tsx";
import { Offer } from "./offer.tsx";
import { PlayerControls, secondsLeft } from "./player-controls.tsx";
import { useWatching } from "./use-watching.ts";
import { VideoSlot } from "./video-slot.tsx";
import { Watched } from "./watched.tsx";
import type { Session, Stage, Watching, WatchingSnapshot } from "./watching.ts";

interface WatchAdProps {
  session: Session;
  video: HTMLVideoElement;
  host: Host;
  onReopen: () => void;
  /** What takes the screen once the ad is closed. */
  status: ReactNode;
}

/** From the offer to the close. The video stays in one place of the tree all the way, since moving it would pause it. */
export function WatchAd({ session, video, host, onReopen, status }: WatchAdProps) {
  const [watching, snapshot] = useWatching(session, video, host);
  const { stage } = snapshot;
  const isOnStage = stage === "playing" || stage === "confirming" || stage === "watched";
  useEffect(() => (isOnStage ? host.onBack(watching.askToClose) : undefined), [isOnStage, host, watching]);
  if (stage === "closed") return status;
  if (!isOnStage && stage !== "offer") return <Interrupted stage={stage} host={host} onReopen={onReopen} />;
  return (
    <OnStage session={session} watching={watching} snapshot={snapshot} host={host}>
      <VideoSlot video={video} width={session.ad.width} height={session.ad.height} />
    </OnStage>
  );
}

function OnStage(props: {
  session: Session;
  watching: Watching;
  snapshot: WatchingSnapshot;
  host: Host;
  children: ReactNode;
}) {
  const { session, watching, snapshot, host, children } = props;
  const { stage, isAskedToLeave, player } = snapshot;
  useStateName(stage);
  return (
    <main className="watch" data-stage={stage} data-playback={player.playback}>
      {children}
      {stage === "offer" ? <Offer session={session} onWatch={watching.play} /> : null}
      {stage === "playing" || stage === "confirming" ? (
        <PlayerControls session={session} watching={watching} snapshot={snapshot} host={host} />
      ) : null}
      {stage === "watched" ? <Watched onClose={watching.close} /> : null}
      {isAskedToLeave ? (
        <LeaveDialog seconds={secondsLeft(session, snapshot)} onStay={watching.stay} onLeave={watching.leave} />
      ) : null}
    </main>
  );
}

type Interruption = Exclude<Stage, "offer" | "playing" | "confirming" | "watched" | "closed">;

/** The ad stopped before its reward; except after its time, it can go on. */
function Interrupted({ stage, host, onReopen }: { stage: Interruption; host: Host; onReopen: () => void }) {
  const { text } = useTranslator();
  const { state, icon, action } = interruptions[stage];
  return (
    <Notice
      state={state}
      icon={icon}
      title={text(`${state}.title`)}
      action={
        action ? (
          <Button onClick={onReopen}>{text(action)}</Button>
        ) : (
          <Button onClick={host.close}>{text("action.close")}</Button>
        )
      }
    >
      <p className="secondary">{text(`${state}.text`)}</p>
    </Notice>
  );
}

const interruptions = {
  left: { state: "left", icon: "close", action: "action.continue" },
  superseded: { state: "superseded", icon: "windows", action: "action.continueHere" },
  incomplete: { state: "not-counted", icon: "note", action: "action.continue" },
  over: { state: "session-over", icon: "clock", action: undefined },
} as const satisfies Record<Interruption, object>;

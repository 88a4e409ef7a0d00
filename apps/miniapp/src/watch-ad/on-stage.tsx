import type { ReactNode } from "react";
import type { Host } from "../telegram/host.ts";
import { useStateName } from "../ui/use-state-name.ts";
import { LeaveDialog } from "./leave-dialog.tsx";
import { Offer } from "./offer.tsx";
import { PlayerControls, secondsLeft } from "./player-controls.tsx";
import { Watched } from "./watched.tsx";
import type { Session, WatchingActions, WatchingSnapshot } from "./watching.ts";

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
  const { stage, isAskedToLeave, player } = snapshot;
  useStateName(stage);
  return (
    <main className="watch" data-stage={stage} data-playback={player.playback}>
      {children}
      {stage === "offer" ? <Offer session={session} onWatch={actions.play} /> : null}
      {stage === "playing" || stage === "confirming" ? (
        <PlayerControls session={session} actions={actions} snapshot={snapshot} host={host} />
      ) : null}
      {stage === "watched" ? <Watched onClose={actions.close} /> : null}
      {isAskedToLeave ? (
        <LeaveDialog seconds={secondsLeft(session, snapshot)} onStay={actions.stay} onLeave={actions.leave} />
      ) : null}
    </main>
  );
}

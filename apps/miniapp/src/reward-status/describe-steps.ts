import type { KnownOfReward } from "./describe-reward.ts";

type StepName = "watched" | "sent" | "credited";

export interface Step {
  readonly name: StepName;
  readonly progress: "done" | "active" | "waiting" | "failed";
  /** When the step was done or failed, by the clock of the party that did it. */
  readonly at: string | undefined;
}

/** The steps of a reward. The last step is omitted if no API can report it. */
export function describeSteps({ service, publisher, hasPublisher }: KnownOfReward, isOver: boolean): Step[] {
  const event = service?.event;
  const recorded = publisher && publisher.outcome !== "not-yet" ? publisher : undefined;
  const isWatched = event !== undefined || recorded !== undefined;
  // A recorded reward was delivered, even if the response to the webhook was lost.
  const isSent = event?.delivery === "delivered" || recorded !== undefined;
  const steps: Step[] = [
    { name: "watched", progress: isWatched ? "done" : pending(true, isOver), at: event?.occurred_at },
    {
      name: "sent",
      progress: isSent ? "done" : event?.delivery === "failed" ? "failed" : pending(isWatched, isOver),
      at: event?.delivered_at,
    },
  ];
  if (!hasPublisher && !recorded) return steps;
  const credited = { credited: "done", refused: "failed" } as const;
  const progress = recorded ? credited[recorded.outcome] : pending(isSent, isOver);
  return [...steps, { name: "credited", progress, at: recorded?.recordedAt }];
}

function pending(isItsTurn: boolean, isOver: boolean): "active" | "waiting" | "failed" {
  if (!isItsTurn) return "waiting";
  return isOver ? "failed" : "active";
}

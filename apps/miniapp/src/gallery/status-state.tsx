import type { RewardForPlayer, StatusResponse, ViewReview } from "@intermission/ad-core/player-api";
import type { PublisherStatus } from "../publisher-api.ts";
import { describeReward } from "../reward-status/describe-reward.ts";
import { describeSteps } from "../reward-status/describe-steps.ts";
import type { NextAd } from "../reward-status/next-ad.ts";
import { RewardScreen } from "../reward-status/reward-screen.tsx";
import { session } from "./sample-session.ts";

type Delivery = NonNullable<StatusResponse["event"]>["delivery"];
type RefusalReason = Extract<PublisherStatus, { outcome: "refused" }>["reason"];

interface StatusStateProps {
  service: "playing" | "watched" | Delivery;
  review?: ViewReview;
  publisher?: "credited" | RefusalReason;
  promised?: RewardForPlayer;
  isClosable?: boolean;
  hasPublisher?: boolean;
  isOffline?: boolean;
  isOld?: boolean;
  /** Until another ad; 0: it is available. */
  nextAdMs?: number;
  waitedMs?: number;
}

const nothing = () => {};

/** The status screen for given responses of the ad service and the publisher. */
export function StatusState(props: StatusStateProps) {
  const { hasPublisher = true, isOffline = false, isOld = false, waitedMs = 1000 } = props;
  const watchedAt = new Date();
  watchedAt.setHours(10, 42, 0, 0);
  if (isOld) watchedAt.setDate(watchedAt.getDate() - 1);
  const known = {
    service: { ...serviceAnswer(props.service, watchedAt), ...(props.review && { review: props.review }) },
    publisher: props.publisher && publisherAnswer(props.publisher, watchedAt),
    hasPublisher,
  };
  const reward = describeReward({ ...known, waitedMs });
  const steps = describeSteps(known, reward.kind === "not-counted" || reward.kind === "view-refused");
  return (
    <RewardScreen
      view={{ reward, steps, isOffline, isSuperseded: false, nextAd: nextAdIn(props.nextAdMs) }}
      botName={session.bot.name}
      promised={props.promised}
      isClosable={props.isClosable ?? false}
      code={session.code}
      onClose={nothing}
      onReopen={nothing}
      onAnother={nothing}
    />
  );
}

function nextAdIn(ms: number | undefined): NextAd | undefined {
  if (ms === undefined) return undefined;
  if (ms === 0) return { when: "now", ofToday: { number: 2, cap: 5 } };
  return { when: "later", untilMs: Date.now() + ms, isDayOver: ms > 3_600_000 };
}

function serviceAnswer(service: StatusStateProps["service"], watchedAt: Date): StatusResponse {
  const at = watchedAt.toISOString();
  const answer = { accepted_ms: 15_000, server_time: at };
  if (service === "playing" || service === "watched") return { ...answer, state: service };
  const isDelivered = service === "delivered";
  return {
    ...answer,
    state: "rewarded",
    event: { event_id: "evt_1", occurred_at: at, delivery: service, ...(isDelivered && { delivered_at: at }) },
  };
}

function publisherAnswer(publisher: "credited" | RefusalReason, watchedAt: Date): PublisherStatus {
  const recordedAt = watchedAt.toISOString();
  if (publisher === "credited")
    return { outcome: "credited", amount: 10, balance: 1250, event: "rewarded", recordedAt };
  return { outcome: "refused", reason: publisher, amount: 0, balance: 1240, recordedAt };
}

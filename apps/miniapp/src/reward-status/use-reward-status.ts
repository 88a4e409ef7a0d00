import type { StatusResponse } from "@intermission/ad-core/player-api";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { TRPCClientError } from "@trpc/client";
import { useEffect, useState } from "react";
import { type Answer, fetchStatus } from "../ad-service-client.ts";
import { createPublisherApi } from "../publisher-api.ts";
import { useNow } from "../ui/use-now.ts";
import type { Session } from "../watch-ad/watching.ts";
import { describeReward, isFinal, type PublisherStatus, type Reward } from "./describe-reward.ts";
import { describeSteps, type Step } from "./describe-steps.ts";
import { pollAfterMs } from "./poll-after-ms.ts";

export interface RewardStatusView {
  readonly reward: Reward;
  readonly steps: readonly Step[];
  readonly isOffline: boolean;
  /** Another window has taken over the session and shows its outcome. */
  readonly isSuperseded: boolean;
}

/** The state of the reward. Polls both parties until the publisher has recorded it. */
export function useRewardStatus(session: Session, initData: string): RewardStatusView {
  const [sinceMs] = useState(() => Date.now());
  const waitedMs = useNow(1000) - sinceMs;
  const publisher = usePublisherStatus(session, initData, sinceMs);
  const service = useQuery({
    queryKey: ["ad-service-status", session.session_id],
    async queryFn() {
      const answer = await fetchStatus(session.session_id, session.token);
      if (answer.outcome === "unreachable") throw new Error("the ad service did not answer");
      return answer;
    },
    // The publisher may have recorded the reward before the service records that the webhook was accepted.
    refetchInterval: ({ state: { data } }) =>
      data?.outcome === "refused" || (isRecorded(publisher.status) && isSent(data))
        ? false
        : pollAfterMs(Date.now() - sinceMs),
  });

  const known = {
    service: service.data?.outcome === "answered" ? service.data.body : undefined,
    publisher: publisher.status,
    hasPublisher: publisher.canBeAsked,
  };
  const reward = describeReward({ ...known, waitedMs });
  return {
    reward,
    steps: describeSteps(known, reward.kind === "not-counted" || reward.kind === "view-refused"),
    isOffline: service.failureCount > 1 && !isFinal(reward),
    isSuperseded: service.data?.outcome === "refused" && !isFinal(reward),
  };
}

function usePublisherStatus(session: Session, initData: string, sinceMs: number) {
  const queryClient = useQueryClient();
  const url = session.bot.publisher_api_url;
  const [publisher] = useState(() => createPublisherApi(url ?? "", initData, queryClient));
  const signIn = useQuery({
    queryKey: ["sign-in", url],
    queryFn: () => publisher.signIn(),
    enabled: url !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    retry: true,
  });
  const { data, error } = useQuery(
    publisher.trpc.rewards.status.queryOptions(
      { code: session.code, event: "rewarded" },
      {
        enabled: signIn.data === "signed-in",
        refetchInterval: ({ state }) => (isRecorded(state.data) ? false : pollAfterMs(Date.now() - sinceMs)),
      },
    ),
  );
  // A publisher that changed its secrets no longer accepts older session tokens.
  const isForgotten = error instanceof TRPCClientError && error.data?.code === "UNAUTHORIZED";
  const { refetch } = signIn;
  useEffect(() => {
    if (isForgotten) refetch();
  }, [isForgotten, refetch]);
  return { status: data, canBeAsked: url !== undefined && signIn.data !== "refused" };
}

function isSent(answer: Answer<StatusResponse> | undefined): boolean {
  return answer?.outcome === "answered" && answer.body.event?.delivered_at !== undefined;
}

function isRecorded(status: PublisherStatus | undefined): boolean {
  return status !== undefined && status.outcome !== "not-yet";
}

import type { StatusResponse } from "@intermission/ad-core/player-api";
import { queryOptions, skipToken, useQuery } from "@tanstack/react-query";
import { TRPCClientError } from "@trpc/client";
import { useEffect, useRef, useState } from "react";
import { type Answer, fetchStatus } from "../ad-service-client.ts";
import { type PublisherStatus, signInToPublisher } from "../publisher-api.ts";
import { retryPauseMs } from "../retry-pause.ts";
import { useNow } from "../ui/hooks.ts";
import type { Session } from "../watch-ad/watching.ts";
import { answersSince, describeReward, isFinal, type Reward } from "./describe-reward.ts";
import { describeSteps, type Step } from "./describe-steps.ts";
import { describeNextAd, type NextAd } from "./next-ad.ts";

/** A reward usually takes a few hundred milliseconds. */
const FIRST_POLLS_MS = [150, 300, 600];

/** The next polling delay by the time waited so far: soon at first, slower for a reward that is stuck, which takes hours. */
export function pollAfterMs(waitedMs: number): number {
  const next = FIRST_POLLS_MS.find((atMs) => atMs > waitedMs);
  if (next !== undefined) return Math.max(next - waitedMs, 50);
  if (waitedMs < 10_000) return 1000;
  return waitedMs < 60_000 ? 3000 : 15_000;
}

export interface RewardStatusView {
  readonly reward: Reward;
  readonly eventId?: string | undefined;
  readonly steps: readonly Step[];
  readonly isOffline: boolean;
  /** Another window has taken over the session and shows its outcome. */
  readonly isSuperseded: boolean;
  /** Whether another ad can be watched, after the end of this one. Undefined: not known, or there is none. */
  readonly nextAd: NextAd | undefined;
}

/** The state of the reward. Polls both parties until the publisher has recorded it. */
export function useRewardStatus(session: Session, initData: string): RewardStatusView {
  const [sinceMs] = useState(() => Date.now());
  const nowMs = useNow(1000);
  const answering = useRef<number>(undefined);
  const recorded = useRef<PublisherStatus>(undefined);
  const service = useQuery({
    queryKey: ["ad-service-status", session.session_id],
    queryFn: async () => {
      const noteAnswer = (hasAnswered: boolean) => {
        answering.current = answersSince(answering.current, Date.now(), hasAnswered);
      };
      try {
        const answer = await askService(session);
        noteAnswer(true);
        return answer;
      } catch (error) {
        noteAnswer(false);
        throw error;
      }
    },
    // The publisher may have recorded the reward before the service records that the webhook was accepted.
    refetchInterval: ({ state: { data } }) =>
      data?.outcome === "refused" || (isRecorded(recorded.current) && isSent(data))
        ? false
        : pollAfterMs(Date.now() - sinceMs),
  });

  const answered = service.data?.outcome === "answered" ? service.data.body : undefined;
  // A view whose link was followed meanwhile earns for another code than the one that it was opened with.
  const publisher = usePublisherStatus(session, answered?.code ?? session.code, initData, sinceMs);
  recorded.current = publisher.status;

  const known = {
    service: answered,
    publisher: publisher.status,
    hasPublisher: publisher.isReachable,
  };
  const reward = describeReward({ ...known, waitedMs: nowMs - (answering.current ?? nowMs) });
  return {
    reward,
    ...(import.meta.env.IN_APP && { eventId: answered?.event?.event_id }),
    steps: describeSteps(known, reward.kind === "not-counted" || reward.kind === "view-refused"),
    isOffline: service.failureCount > 1 && !isFinal(reward),
    isSuperseded: service.data?.outcome === "refused" && !isFinal(reward),
    nextAd: useNextAd(session, kindsBeforeNextAd.includes(reward.kind)),
  };
}

/** Nothing is on its way any more, so the user may go on with another ad. */
const kindsBeforeNextAd: readonly Reward["kind"][] = ["credited", "delivered", "refused", "view-refused", "held"];

/** Asks again when a limit ends, and once a minute if there is no ad. */
function useNextAd(session: Session, isEnabled: boolean): NextAd | undefined {
  const { data } = useQuery({
    queryKey: ["next-ad", session.session_id],
    queryFn: async () => describeNextAd(await askService(session, { next_ad: true }), Date.now()),
    enabled: isEnabled,
    refetchInterval: ({ state }) => state.data?.askAgainMs ?? false,
  });
  return data?.nextAd;
}

/** Signs in to the publisher's API. One request serves the preparation and the status. */
export function publisherQuery(url: string, botId: string, initData: string) {
  return queryOptions({
    queryKey: ["publisher", url, botId],
    queryFn: () => signInToPublisher(url, botId, initData),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
    structuralSharing: false,
    retry: true,
    retryDelay: (failures) => retryPauseMs(failures, 1000, 5000),
  });
}

function usePublisherStatus(session: Session, code: string, initData: string, sinceMs: number) {
  const url = session.bot.publisher_api_url;
  const signIn = useQuery({ ...publisherQuery(url ?? "", session.bot.bot_id, initData), enabled: url !== undefined });
  const api = signIn.data;
  const { data, error } = useQuery({
    queryKey: ["publisher-status", url, code],
    queryFn: api ? () => api.readStatus(code) : skipToken,
    refetchInterval: ({ state }) => (isRecorded(state.data) ? false : pollAfterMs(Date.now() - sinceMs)),
  });
  // A publisher that changed its secrets no longer accepts older session tokens.
  const isForgotten = error instanceof TRPCClientError && error.data?.code === "UNAUTHORIZED";
  const { refetch } = signIn;
  useEffect(() => {
    if (isForgotten) refetch();
  }, [isForgotten, refetch]);
  return { status: data, isReachable: url !== undefined && api !== null };
}

type Decided = Exclude<Answer<StatusResponse>, { outcome: "unreachable" }>;

async function askService({ session_id: id, token }: Session, also: { next_ad?: boolean } = {}): Promise<Decided> {
  const answer = await fetchStatus(id, { token, ...also });
  if (answer.outcome === "unreachable") throw new Error("the ad service did not answer");
  return answer;
}

function isSent(answer: Decided | undefined): boolean {
  return answer?.outcome === "answered" && answer.body.event?.delivered_at !== undefined;
}

function isRecorded(status: PublisherStatus | undefined): boolean {
  return status !== undefined && status.outcome !== "not-yet";
}

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { useEffect } from "react";
import type { Host } from "../telegram/host.ts";
import { useNews } from "../telegram/use-news.ts";
import type { Session } from "../watch-ad/watching.ts";
import { looks, RewardScreen } from "./reward-screen.tsx";
import { publisherQuery, useRewardStatus } from "./use-reward-status.ts";
import { noticeInput } from "./use-self-closing.ts";

export interface RewardStatusProps {
  session: Session;
  /** The ad was watched since the app was opened. */
  isWatchedHere: boolean | undefined;
  initData: string;
  host: Host;
  onReopen: () => void;
  onAnother: () => void;
  /** Another ad could be opened after this one, most likely with this video. */
  onNextMedia: (after: Session, media: { url: string; poster_url?: string | undefined }) => void;
}

// navigator.onLine is often wrong inside web views, so requests are always tried.
const always = { networkMode: "always" } as const;
const queryClient = new QueryClient({ defaultOptions: { queries: always, mutations: always } });

/** Call it while the ad plays: signs in to the publisher's API ahead of the status. Failures are retried; the status then waits for the same request. */
export function prepareRewardStatus(session: Session, initData: string): void {
  noticeInput();
  const url = session.bot.publisher_api_url;
  if (url !== undefined) queryClient.prefetchQuery(publisherQuery(url, session.bot.bot_id, initData));
}

/** Shows the state of the reward, also when the app is opened again later. */
export function RewardStatus(props: RewardStatusProps) {
  return (
    <QueryClientProvider client={queryClient}>
      <Status {...props} />
    </QueryClientProvider>
  );
}

function Status(props: RewardStatusProps) {
  const { session, isWatchedHere = false, initData, host, onReopen, onAnother, onNextMedia } = props;
  const view = useRewardStatus(session, initData);
  const media = view.nextAd?.when === "now" ? view.nextAd.media : undefined;
  useEffect(() => {
    if (media) onNextMedia(session, media);
  }, [session, media, onNextMedia]);
  const { haptic } = looks[view.reward.kind];
  useEffect(() => {
    if (haptic) host.haptic(haptic);
  }, [haptic, host]);
  // A constant of the build.
  if (import.meta.env.IN_APP) useNews(host, { phase: "reward", reward: view.reward.kind, eventId: view.eventId });
  return (
    <RewardScreen
      view={view}
      botName={session.bot.name}
      promised={session.rewards?.rewarded}
      isClosable={isWatchedHere && session.bot.close_when_credited === true}
      code={session.code}
      onClose={host.close}
      onReopen={onReopen}
      onAnother={onAnother}
    />
  );
}

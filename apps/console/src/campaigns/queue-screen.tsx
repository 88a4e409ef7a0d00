import { type Campaign, campaignRoutes } from "@intermission/operator-api/campaigns";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { useAnswer } from "../operator/use-operator.ts";
import { AnswerView, AsOf, EmptyState, Skeleton } from "../ui/answer-view.tsx";
import { Page } from "../ui/page.tsx";
import { QueueTabs } from "../ui/queue-tabs.tsx";
import { queueWords } from "../words/queue-words.ts";
import { useWords } from "../words/word-table.ts";
import { campaignReviewWords } from "./words.ts";
import "./campaigns.css";

/** Loaded separately, since the form is a large part of the screen. */
const WaitingCampaign = lazy(async () => ({ default: (await import("./waiting-campaign.tsx")).WaitingCampaign }));

/** Campaigns that the queue reads at once. It reads the rest as it gets shorter. */
const MAX_READ = 50;

/** Shows submitted campaigns one after another; single keys approve and refuse. */
export function CampaignQueueScreen() {
  const words = useWords(campaignReviewWords);
  const { nothingWaits, queue: title } = useWords(queueWords);
  const queue = useAnswer(campaignRoutes.listCampaigns, { query: { review: "waiting", limit: MAX_READ } });
  const [postponed, setPostponed] = useState<readonly string[]>([]);
  const [shown, setShown] = useState<Campaign>();
  const waiting = queue.data?.campaigns ?? [];
  // The shown campaign stays until it is decided, even if a later answer changes the queue.
  const current = shown ?? waiting.find(({ campaignId }) => !postponed.includes(campaignId)) ?? waiting[0];
  if (current !== shown) setShown(current);
  const goOn = (after: Campaign) => {
    setPostponed((before) => [...before.filter((id) => id !== after.campaignId), after.campaignId]);
    setShown(undefined);
  };
  return (
    <Page
      title={title}
      aside={
        queue.data && (
          <>
            <strong role="status">{words.waiting(queue.data.total)}</strong>
            <AsOf at={queue.dataUpdatedAt} />
          </>
        )
      }
    >
      <QueueTabs />
      <AnswerView query={queue}>
        {() =>
          current === undefined ? (
            <EmptyState
              action={
                <Link to="/campaigns" className="button button-plain">
                  {words.allCampaigns}
                </Link>
              }
            >
              {nothingWaits}
            </EmptyState>
          ) : (
            <Suspense fallback={<Skeleton rows={4} />}>
              <WaitingCampaign
                key={`${current.campaignId} ${current.updatedAt.getTime()}`}
                campaign={current}
                onDecided={() => goOn(current)}
                onFailed={() => setShown(undefined)}
                onLater={waiting.length > 1 ? () => goOn(current) : undefined}
              />
            </Suspense>
          )
        }
      </AnswerView>
    </Page>
  );
}

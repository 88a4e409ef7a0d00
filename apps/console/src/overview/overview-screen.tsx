import { Link } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { troubleOf } from "../bots/endpoint-trouble.ts";
import { LastDays } from "../reports/last-days.tsx";
import { BotSelect } from "../session/bot-select.tsx";
import { useMay, usePerson } from "../session/use-session.ts";
import { MoreSections } from "../shell/navigation.tsx";
import { AsOf, EmptyState, Failure, Skeleton } from "../ui/answer-view.tsx";
import { Page } from "../ui/page.tsx";
import { useWords } from "../words/word-table.ts";
import { AttentionItem } from "./attention-item.tsx";
import type { FirstStepsShown } from "./first-steps.tsx";
import { LastDay, NoFills, useLastDay } from "./last-day.tsx";
import { useAttention } from "./use-attention.ts";
import { overviewWords } from "./words.ts";
import "./overview.css";

/** Only new deployments have them. */
const FirstSteps = lazy(async () => ({ default: (await import("./first-steps.tsx")).FirstSteps }));

/** What needs attention, each with the page where it is dealt with, and the figures of the last day and the last two weeks. */
export function OverviewScreen() {
  const words = useWords(overviewWords);
  const may = useMay();
  const attention = useAttention();
  const { botIds } = usePerson();
  const [chosen, setChosen] = useState<string>();
  // A bot may be taken from a publisher meanwhile.
  const botId = botIds.find((one) => one === chosen) ?? botIds[0];
  const lastDay = useLastDay(botId);
  const total = lastDay.data?.total;
  const [firstSteps, setFirstSteps] = useState<FirstStepsShown>(null);
  const mayBeNew = may("addBot") && total?.rewards === 0 && total.clicks === 0;
  // Zeros of a new deployment say nothing.
  const hasFigures = may("readStats") && !(mayBeNew && total.requests === 0 && (firstSteps?.isOpen ?? true));
  return (
    <Page
      title={words.overview}
      aside={
        <>
          {attention.readAt > 0 && <AsOf at={attention.readAt} />}
          {botIds.length > 0 && <BotSelect label={words.bot} value={botId} onChange={setChosen} />}
        </>
      }
    >
      <div className="stack">
        {mayBeNew && (
          <Suspense fallback={null}>
            <FirstSteps onShown={setFirstSteps} />
          </Suspense>
        )}
        <section aria-labelledby="attention">
          <h2 id="attention">{words.attention}</h2>
          <AttentionList
            attention={attention}
            isBeforeCampaigns={mayBeNew && firstSteps?.needsCampaign === true}
            noFills={<NoFills query={lastDay} />}
          />
        </section>
        {hasFigures && <LastDay query={lastDay} botId={botId} />}
        {hasFigures && <LastDays bot={botId} />}
        <MoreSections />
      </div>
    </Page>
  );
}

interface AttentionListProps {
  attention: Attention;
  /** The first campaign is a step that is shown as open. */
  isBeforeCampaigns: boolean;
  noFills: ReactNode;
}

function AttentionList({ attention, isBeforeCampaigns, noFills }: AttentionListProps) {
  const words = useWords(overviewWords);
  const { endpoints, ended, heldViews, heldClicks, heldPayments, isLoading, errors } = attention;
  const [error] = errors;
  const items = [
    ...endpoints.map((endpoint) => {
      const { botId, name, held } = endpoint;
      return (
        <AttentionItem key={botId} look="bad" note={held > 0 ? words.heldEvents(held) : undefined}>
          <Link to="/bots/$botId" params={{ botId }} className="row-link">
            {words[troubleOf(endpoint) ?? "failing"](name)}
          </Link>
        </AttentionItem>
      );
    }),
    ...itemsOfCampaigns(words, {
      ...attention,
      isNothingRunning: attention.isNothingRunning && !isBeforeCampaigns,
    }),
    heldPayments && heldPayments.count > 0 && (
      <AttentionItem key="held-payments" look="late">
        <Link to="/advertisers" className="row-link">
          {words.heldPayments(heldPayments)}
        </Link>
      </AttentionItem>
    ),
    heldViews && heldViews.count > 0 && (
      <AttentionItem key="held-views" look="late">
        <Link to="/reviews" className="row-link">
          {words.heldViews(heldViews)}
        </Link>
      </AttentionItem>
    ),
    heldClicks && heldClicks.count > 0 && (
      <AttentionItem key="held-clicks" look="late">
        <Link to="/reviews" search={{ of: "clicks" }} className="row-link">
          {words.heldClicks(heldClicks)}
        </Link>
      </AttentionItem>
    ),
    ...itemsOfQueues(words, attention),
    ended.count > 0 && (
      <AttentionItem key="ended" look="late">
        <Link to="/campaigns" search={{ phase: "ended" }} className="row-link">
          {words.ended(ended.count)}
        </Link>
      </AttentionItem>
    ),
  ].filter((item) => item);
  if (error !== undefined) return <Failure error={error} onRetry={() => void attention.refetch()} />;
  if (isLoading) return <Skeleton rows={3} />;
  if (items.length === 0) {
    return (
      <>
        <NothingToDo />
        <ul className="attention">{noFills}</ul>
      </>
    );
  }
  return (
    <ul className="attention">
      {items}
      {noFills}
    </ul>
  );
}

type Attention = ReturnType<typeof useAttention>;

/** What waits for approval. */
function itemsOfQueues(
  words: (typeof overviewWords)["en"],
  { waitingCreatives, waitingCampaigns, waitingMoney }: Attention,
) {
  return [
    waitingMoney > 0 && (
      <AttentionItem key="waiting-money" look="late">
        <Link to="/approvals" className="row-link">
          {words.waitingMoney(waitingMoney)}
        </Link>
      </AttentionItem>
    ),
    waitingCreatives > 0 && (
      <AttentionItem key="waiting-creatives" look="late">
        <Link to="/approval" className="row-link">
          {words.waitingCreatives(waitingCreatives)}
        </Link>
      </AttentionItem>
    ),
    waitingCampaigns > 0 && (
      <AttentionItem key="waiting-campaigns" look="late">
        <Link to="/approval/campaigns" className="row-link">
          {words.waitingCampaigns(waitingCampaigns)}
        </Link>
      </AttentionItem>
    ),
  ];
}

/** Active campaigns that do not run. */
function itemsOfCampaigns(words: (typeof overviewWords)["en"], { isNothingRunning, spent, unfunded }: Attention) {
  return [
    isNothingRunning && (
      <AttentionItem key="nothing-running" look="bad">
        <Link to="/campaigns" className="row-link">
          {words.noCampaign}
        </Link>
      </AttentionItem>
    ),
    spent.count > 0 && (
      <AttentionItem key="spent" look="bad">
        <Link to="/campaigns" search={{ phase: "spent" }} className="row-link">
          {spent.count === 1 ? words.spentOne(spent.name) : words.spent(spent.count)}
        </Link>
      </AttentionItem>
    ),
    unfunded.count > 0 && (
      <AttentionItem key="unfunded" look="bad">
        <Link to="/campaigns" search={{ phase: "unfunded" }} className="row-link">
          {words.unfunded(unfunded.count)}
        </Link>
      </AttentionItem>
    ),
  ];
}

function NothingToDo() {
  const words = useWords(overviewWords);
  const may = useMay();
  const toReports = may("readStats") && (
    <Link to="/reports" className="button button-plain">
      {words.toReports}
    </Link>
  );
  return <EmptyState action={toReports}>{words.nothing}</EmptyState>;
}

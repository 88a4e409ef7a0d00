import { deliveryRoutes } from "@intermission/operator-api/deliveries";
import { endpointRoutes } from "@intermission/operator-api/endpoints";
import { eventRoutes } from "@intermission/operator-api/events";
import { statisticsRoutes } from "@intermission/operator-api/statistics";
import { useQueries } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { answerOf } from "../operator/use-operator.ts";
import { AnswerView } from "../ui/answer-view.tsx";
import { Checklist } from "../ui/checklist.tsx";
import { useLanguage, useWords } from "../words/word-table.ts";
import { type ChecklistStep, checklistSteps, doneSteps } from "./checklist.ts";
import { publisherWords, stepWords } from "./words.ts";

/** While a publisher tries out a bot, the steps tick by themselves. */
const LIVE_MS = 3000;
/** Test events are among them, which earn nothing. */
const LATEST = 50;
const DAY_MS = 86_400_000;

function useDoneSteps(botId: string) {
  const [openedAt] = useState(() => Date.now());
  const params = { botId };
  const live = { refetchInterval: LIVE_MS, staleTime: 0 };
  const from = new Date(openedAt - 90 * DAY_MS).toISOString();
  return useQueries({
    queries: [
      { ...answerOf(endpointRoutes.showEndpoint, { params }), ...live },
      { ...answerOf(statisticsRoutes.readStats, { query: { botId, by: "bot", from } }), ...live },
      { ...answerOf(eventRoutes.listLatestEventsOfBot, { params, query: { limit: LATEST } }), ...live },
      { ...answerOf(deliveryRoutes.listDeliveries, { query: { botId, state: "delivered", limit: LATEST } }), ...live },
    ],
    combine: ([endpoint, stats, events, delivered]) => ({
      data:
        endpoint.data && stats.data && events.data && delivered.data
          ? doneSteps({
              endpointUrl: endpoint.data.url,
              endpointState: endpoint.data.state,
              adRequests: stats.data.total.requests,
              hasEvent: events.data.events.some(({ test }) => test !== true),
              hasDelivered: delivered.data.deliveries.some(({ isTest }) => !isTest),
            })
          : undefined,
      error: endpoint.error ?? stats.error ?? events.error ?? delivered.error,
      refetch: () => Promise.all([endpoint.refetch(), stats.refetch(), events.refetch(), delivered.refetch()]),
    }),
  });
}

/** Steps that link to the bot's screen. */
const ofWebhook: readonly ChecklistStep[] = ["address", "endpoint"];

export function PublisherChecklist({ botId }: { botId: string }) {
  const words = useWords(publisherWords);
  const texts = stepWords[useLanguage()];
  const done = useDoneSteps(botId);
  return (
    <AnswerView query={done} rows={5}>
      {(isDone) => (
        <Checklist
          title={words.checklist}
          steps={checklistSteps.map((step) => ({
            key: step,
            text:
              ofWebhook.includes(step) && !isDone[step] ? (
                <Link to="/bots/$botId" params={{ botId }} hash="webhook-settings" className="link">
                  {texts[step]}
                </Link>
              ) : (
                texts[step]
              ),
            isDone: isDone[step],
          }))}
        />
      )}
    </AnswerView>
  );
}

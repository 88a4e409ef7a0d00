import { type Bot, botRoutes } from "@intermission/operator-api/bots";
import { durationText } from "@intermission/operator-api/duration-text";
import { endpointRoutes } from "@intermission/operator-api/endpoints";
import { publisherSettings } from "@intermission/operator-api/publisher-settings";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { answerOf, useAnswer, useChange } from "../operator/use-operator.ts";
import { useMay, usePerson } from "../session/use-session.ts";
import { AnswerView, AsOf, Skeleton, useFailedNotice } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { useNotice } from "../ui/notices.tsx";
import { Page } from "../ui/page.tsx";
import { useFormats } from "../words/formats.ts";
import { unitWords } from "../words/unit-words.ts";
import { categoryText } from "../words/vocabulary-words.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import { Deliveries } from "./deliveries.tsx";
import { EndpointPanel } from "./endpoint-panel.tsx";
import { isRotating, TokensPanel } from "./tokens-panel.tsx";
import { botWords } from "./words.ts";
import "./bots.css";

/** What is changed is a third of the screen, and below what is read first. */
const TestersPanel = lazy(async () => ({ default: (await import("./testers-panel.tsx")).TestersPanel }));
const PicturesPanel = lazy(async () => ({ default: (await import("./pictures-panel.tsx")).PicturesPanel }));
const WebhookSettings = lazy(async () => ({ default: (await import("./webhook-settings.tsx")).WebhookSettings }));
const InAppPanel = lazy(async () => ({ default: (await import("./in-app-panel.tsx")).InAppPanel }));
const OrderPanel = lazy(async () => ({ default: (await import("./order-panel.tsx")).OrderPanel }));
const SettingsForm = lazy(async () => ({ default: (await import("./settings-form.tsx")).SettingsForm }));

const ROTATING_MS = 10_000;
/** What its publisher may change; all else is the operator's. */
const ofPublisher: readonly string[] = publisherSettings;

const route = getRouteApi("/shell/bots/$botId");

/** A bot: how its webhooks fare, which ones were sent, and its settings. */
export function BotScreen() {
  const { botId } = route.useParams();
  const bot = useQuery({
    ...answerOf(botRoutes.showBot, { params: { botId } }),
    // Who changes the token sees when the bot uses the next one.
    refetchInterval: ({ state }) => state.data !== undefined && isRotating(state.data.tokens) && ROTATING_MS,
  });
  const endpoint = useAnswer(endpointRoutes.showEndpoint, { params: { botId } });
  const may = useMay();
  const { role } = usePerson();
  const isShown = (name: string) => role !== "publisher" || ofPublisher.includes(name);
  return (
    <Page
      title={bot.data?.name ?? botId}
      aside={
        <>
          {endpoint.data && <AsOf at={endpoint.data.asOf} />}
          {bot.data && <Actions bot={bot.data} />}
        </>
      }
    >
      <AnswerView query={bot}>
        {(shown) => (
          // The page of another bot has fields of its own: the router keeps the screen.
          <div className="stack" key={shown.botId}>
            <AnswerView query={endpoint}>{(read) => <EndpointPanel endpoint={read} />}</AnswerView>
            <Deliveries botId={botId} />
            <TokensPanel bot={shown} />
            <Suspense fallback={<Skeleton rows={2} />}>
              <TestersPanel bot={shown} />
            </Suspense>
            <Suspense fallback={<Skeleton rows={4} />}>
              <PicturesPanel bot={shown} />
            </Suspense>
            {may("showNotices") && (
              <Suspense fallback={<Skeleton rows={3} />}>
                <WebhookSettings botId={botId} endpoint={endpoint.data} />
              </Suspense>
            )}
            <Suspense fallback={<Skeleton rows={4} />}>
              <InAppPanel bot={shown} />
            </Suspense>
            {may("explainOrder") && (
              <Suspense fallback={<Skeleton rows={3} />}>
                <OrderPanel botId={botId} />
              </Suspense>
            )}
            {may("updateBot") ? (
              <Suspense fallback={<Skeleton rows={6} />}>
                <SettingsForm bot={shown} isShown={isShown} />
              </Suspense>
            ) : (
              <Settings bot={shown} />
            )}
          </div>
        )}
      </AnswerView>
    </Page>
  );
}

function Actions({ bot: { botId, name, isSuspended } }: { bot: Bot }) {
  const words = useWords(botWords);
  const may = useMay();
  const notice = useNotice();
  const onError = useFailedNotice();
  const suspend = useChange(botRoutes.suspendBot);
  const resume = useChange(botRoutes.resumeBot);
  const input = { params: { botId } };
  const onResume = () => resume.mutate(input, { onError, onSuccess: () => notice({ text: words.resumedNow(name) }) });
  const onSuspend = () =>
    suspend.mutate(input, {
      onError,
      onSuccess: () => notice({ text: words.suspendedNow(name), onUndo: onResume }),
    });
  return (
    <>
      {may("explainChoice") && (
        <Link to="/explain" search={{ bot: botId }} className="button button-plain">
          {words.explain}
        </Link>
      )}
      {may("suspendBot") && (
        <Button isBusy={suspend.isPending || resume.isPending} onClick={isSuspended ? onResume : onSuspend}>
          {isSuspended ? words.unsuspend : words.suspend}
        </Button>
      )}
    </>
  );
}

/** The settings, for who may not change them. */
function Settings({ bot }: { bot: Bot }) {
  const words = useWords(botWords);
  const language = useLanguage();
  const { number } = useFormats();
  const { botId, username, category, dailyCap, cooldownSeconds, timeZone } = bot;
  const facts = {
    Id: botId,
    [words.username]: username === null ? "–" : `@${username}`,
    [words.category]: category === null ? "–" : categoryText(language, category),
    [words.dailyCap]: number(dailyCap),
    [words.cooldown]: durationText(cooldownSeconds, unitWords[language]),
    [words.timeZone]: timeZone,
  };
  return (
    <section className="panel" aria-labelledby="settings">
      <h2 id="settings">{words.settings}</h2>
      <dl className="pairs">
        {Object.entries(facts).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

import { type Bot, botRoutes, type TokenEntry } from "@intermission/operator-api/bots";
import { endpointRoutes } from "@intermission/operator-api/endpoints";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useAnswer, useChange } from "../operator/use-operator.ts";
import { useMay } from "../session/use-session.ts";
import { AnswerView, AsOf, useErrorText } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { useNotice } from "../ui/notices.tsx";
import { Page } from "../ui/page.tsx";
import { useFormats } from "../words/formats.ts";
import { categoryText } from "../words/vocabulary-words.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import { Deliveries } from "./deliveries.tsx";
import { EndpointPanel } from "./endpoint-panel.tsx";
import { botWords } from "./words.ts";
import "./bots.css";

const route = getRouteApi("/shell/bots/$botId");

/** A bot: how its webhooks fare, which ones were sent, and its settings. */
export function BotScreen() {
  const { botId } = route.useParams();
  const bot = useAnswer(botRoutes.showBot, { params: { botId } });
  const endpoint = useAnswer(endpointRoutes.showEndpoint, { params: { botId } });
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
          <div className="stack">
            <AnswerView query={endpoint}>{(read) => <EndpointPanel endpoint={read} />}</AnswerView>
            <Deliveries botId={botId} />
            <Settings bot={shown} />
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
  const textOf = useErrorText();
  const suspend = useChange(botRoutes.suspendBot);
  const resume = useChange(botRoutes.resumeBot);
  const onError = (error: Error) => notice({ text: textOf(error), look: "failed" });
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

function Settings({ bot }: { bot: Bot & { tokens: TokenEntry[] } }) {
  const words = useWords(botWords);
  const language = useLanguage();
  const { number, dateTime } = useFormats();
  const { botId, username, category, dailyCap, cooldownSeconds, timeZone, tokens } = bot;
  const facts = {
    Id: botId,
    [words.username]: username === null ? "–" : `@${username}`,
    [words.category]: category === null ? "–" : categoryText(language, category),
    [words.dailyCap]: number(dailyCap),
    [words.cooldown]: words.seconds(number(cooldownSeconds)),
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
        <div>
          <dt>{words.tokens}</dt>
          <dd>
            {tokens.map(({ tokenId, state, createdAt }) => (
              <p key={tokenId}>
                <code>{tokenId}</code> {words.tokenState[state]}, {words.since(dateTime(createdAt))}
              </p>
            ))}
          </dd>
        </div>
      </dl>
    </section>
  );
}

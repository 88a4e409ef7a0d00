import { deliveryRoutes, type ListedDelivery } from "@intermission/operator-api/deliveries";
import { endpointRoutes } from "@intermission/operator-api/endpoints";
import { Link } from "@tanstack/react-router";
import { Advice } from "../bots/advice.tsx";
import { explainDelivery } from "../bots/explain-delivery.ts";
import { resultText } from "../bots/result-text.ts";
import { useAnswer, useChange } from "../operator/use-operator.ts";
import { useMay } from "../session/use-session.ts";
import { AnswerView, useFailedNotice } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useFormats } from "../words/formats.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import { publisherWords } from "./words.ts";

/** Why a publisher's webhook fails: the request, the publisher's own answer, what to do, and sending it again. */
export function FailedWebhook({ botId }: { botId: string }) {
  const words = useWords(publisherWords);
  const failed = useAnswer(deliveryRoutes.listDeliveries, { query: { botId, state: "failed" } });
  const endpoint = useAnswer(endpointRoutes.showEndpoint, { params: { botId } });
  // Failed tests are no matter any more once the address passed one.
  const isShown = ({ isTest }: ListedDelivery) => !isTest || endpoint.data?.state !== "active";
  return (
    <section className="panel stack" aria-labelledby="failing">
      <AnswerView query={failed} rows={2}>
        {({ deliveries }) => {
          const latest = deliveries.find(isShown);
          return (
            <>
              <header className="panel-head">
                <h2 id="failing">{words.failing}</h2>
                {latest?.isTest === false && <SendAgain eventId={latest.eventId} />}
              </header>
              {latest === undefined ? (
                <p className="secondary">{words.noneFailed}</p>
              ) : (
                <LastAttempt eventId={latest.eventId} />
              )}
              <p>
                <Link to="/bots/$botId" params={{ botId }} className="link">
                  {words.toBot}
                </Link>
              </p>
            </>
          );
        }}
      </AnswerView>
    </section>
  );
}

function SendAgain({ eventId }: { eventId: string }) {
  const words = useWords(publisherWords);
  const { clock } = useFormats();
  const may = useMay();
  const notice = useNotice();
  const onFailed = useFailedNotice();
  const replay = useChange(deliveryRoutes.replayDelivery);
  if (!may("replayDelivery")) return null;
  const onClick = () =>
    replay.mutate(
      { params: { eventId } },
      {
        onError: onFailed,
        onSuccess: ({ notBefore }) =>
          notice({ text: notBefore === null ? words.sentAgain : words.sentAgainAfter(clock(notBefore)) }),
      },
    );
  return (
    <span className="panel-actions">
      <Button look="primary" isBusy={replay.isPending} onClick={onClick}>
        {words.sendAgain}
      </Button>
    </span>
  );
}

/** Of an answer or a body: the rest is on the bot's page. */
const MAX_TEXT = 2000;

function LastAttempt({ eventId }: { eventId: string }) {
  const words = useWords(publisherWords);
  const language = useLanguage();
  const { dateTime, milliseconds } = useFormats();
  const delivery = useAnswer(deliveryRoutes.showDelivery, { params: { eventId } });
  return (
    <AnswerView query={delivery} rows={3}>
      {({ log, body, ...shown }) => {
        const attempt = log.at(-1);
        return (
          <div className="stack">
            <p>{explainDelivery(language, shown, dateTime)}</p>
            <Advice attempt={attempt} />
            <div className="exchange">
              <div>
                <h3>{words.request}</h3>
                {attempt !== undefined && (
                  <p className="small secondary">
                    {words.attempt({ attempt: attempt.attempt, time: dateTime(attempt.startedAt) })}
                  </p>
                )}
                {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long text scrolls, and the keyboard must reach it. */}
                <pre tabIndex={0}>{`POST ${attempt?.url ?? ""}\n\n${body.slice(0, MAX_TEXT)}`}</pre>
              </div>
              <div>
                <h3>{words.answer}</h3>
                <p className="small secondary">
                  {attempt !== undefined && resultText(language, attempt)}
                  {attempt !== undefined && attempt.totalMs !== null && `, ${milliseconds(attempt.totalMs)}`}
                </p>
                {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long text scrolls, and the keyboard must reach it. */}
                <pre tabIndex={0}>{attempt?.responseText?.slice(0, MAX_TEXT) || words.noAnswer}</pre>
              </div>
            </div>
          </div>
        );
      }}
    </AnswerView>
  );
}

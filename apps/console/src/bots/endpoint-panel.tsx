import { endpointRoutes, type ListedEndpoint } from "@intermission/operator-api/endpoints";
import { useChange } from "../operator/use-operator.ts";
import { useMay } from "../session/use-session.ts";
import { useFailedNotice } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useFormats } from "../words/formats.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import { Warnings } from "./advice.tsx";
import { EndpointPill } from "./endpoint-pill.tsx";
import { ResendButton } from "./resend-dialog.tsx";
import { resultText } from "./result-text.ts";
import { useEndpointTest } from "./use-endpoint-test.ts";
import { botWords } from "./words.ts";

/** The webhook address of a bot with its health: test it, switch it, send again what failed. */
export function EndpointPanel({ endpoint }: { endpoint: ListedEndpoint }) {
  const words = useWords(botWords);
  const language = useLanguage();
  const { number, ago, dateTime } = useFormats();
  const { url, state, disabledReason, probeAt, breaker, warnings, lastAnswer, lastStatus, lastErrorClass } = endpoint;
  if (url === null || state === null) {
    return (
      <section className="panel" aria-labelledby="endpoint">
        <h2 id="endpoint">{words.endpoint}</h2>
        <p className="secondary">{words.noAddress}</p>
      </section>
    );
  }
  const time = (at: Date | null) => (at === null ? words.never : <span title={dateTime(at)}>{ago(at)}</span>);
  return (
    <section className="panel stack" aria-labelledby="endpoint">
      <header className="panel-head">
        <h2 id="endpoint">{words.endpoint}</h2>
        <EndpointPill endpoint={endpoint} />
        <EndpointActions endpoint={endpoint} />
      </header>
      <p>
        <code>{url}</code>
      </p>
      {disabledReason !== null && <p className="fault">{words.disabledBy[disabledReason]}</p>}
      {breaker !== "closed" && probeAt !== null && <p className="late">{words.probe(ago(probeAt))}</p>}
      <Warnings warnings={warnings} />
      <dl className="facts">
        <Fact name={words.waiting}>{number(endpoint.waiting)}</Fact>
        <Fact name={words.held}>{number(endpoint.held)}</Fact>
        <Fact name={words.inFlight}>{number(endpoint.inFlight)}</Fact>
        <Fact name={words.lastSuccess}>{time(endpoint.lastSuccessAt)}</Fact>
        <Fact name={words.lastFailure}>{time(endpoint.lastFailureAt)}</Fact>
      </dl>
      {endpoint.lastFailureAt !== null && lastAnswer !== null && (
        <p className="small">
          <span className="secondary">
            {words.why} {resultText(language, { status: lastStatus, errorClass: lastErrorClass })}:
          </span>{" "}
          {lastAnswer.slice(0, 300)}
        </p>
      )}
    </section>
  );
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function EndpointActions({ endpoint: { botId, name, state } }: { endpoint: ListedEndpoint }) {
  const words = useWords(botWords);
  const may = useMay();
  const notice = useNotice();
  const onError = useFailedNotice();
  const test = useEndpointTest(botId);
  const enable = useChange(endpointRoutes.enableEndpoint);
  const disable = useChange(endpointRoutes.disableEndpoint);
  const params = { botId };
  const onEnable = () =>
    enable.mutate({ params, body: {} }, { onError, onSuccess: () => notice({ text: words.enabled }) });
  const onDisable = () =>
    disable.mutate({ params }, { onError, onSuccess: () => notice({ text: words.disabledNow, onUndo: onEnable }) });
  return (
    <span className="panel-actions">
      {may("replayDeliveries") && <ResendButton botId={botId} name={name} />}
      {may("testEndpoint") && (
        <Button isBusy={test.isPending} onClick={test.run}>
          {words.test}
        </Button>
      )}
      {may("enableEndpoint") && state === "disabled" && (
        <Button isBusy={enable.isPending} onClick={onEnable}>
          {words.enable}
        </Button>
      )}
      {may("disableEndpoint") && state !== "disabled" && (
        <Button isBusy={disable.isPending} onClick={onDisable}>
          {words.disable}
        </Button>
      )}
    </span>
  );
}

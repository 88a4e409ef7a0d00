import { currencyRoutes } from "@intermission/operator-api/currency";
import { endpointRoutes, type ListedEndpoint } from "@intermission/operator-api/endpoints";
import { type ReportReplica, statusRoutes } from "@intermission/operator-api/status";
import { Link } from "@tanstack/react-router";
import { useAnswer } from "../operator/use-operator.ts";
import { AnswerView, AsOf, EmptyState } from "../ui/answer-view.tsx";
import { DataTable } from "../ui/data-table.tsx";
import { Page } from "../ui/page.tsx";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { systemWords } from "./words.ts";

/** The server that answers, its store, and the queues of webhooks. */
export function SystemScreen() {
  const words = useWords(systemWords);
  const status = useAnswer(statusRoutes.showStatus);
  const endpoints = useAnswer(endpointRoutes.listEndpoints);
  return (
    <Page title={words.system} aside={status.data && <AsOf at={status.dataUpdatedAt} />}>
      <div className="stack">
        <AnswerView query={status} rows={2}>
          {({ version, schema, store, reportReplica }) => (
            <section className="panel stack" aria-labelledby="server">
              <h2 id="server">{words.server}</h2>
              <dl className="facts">
                <Fact name={words.version} value={version} />
                <Fact name={words.schema} value={schema} />
                <Fact name={words.postgres} value={store.postgres} />
                <Fact name={words.store} value={store.server} />
                <Fact name={words.database} value={store.database} />
                <Currency />
                {reportReplica && <Fact name={words.replica} value={replicaText(reportReplica, words)} />}
              </dl>
            </section>
          )}
        </AnswerView>
        <section aria-labelledby="queues">
          <div className="list-head">
            <h2 id="queues">{words.queues}</h2>
          </div>
          <AnswerView query={endpoints}>
            {({ endpoints: all }) => <Queues endpoints={all.filter(({ waiting }) => waiting > 0)} />}
          </AnswerView>
        </section>
      </div>
    </Page>
  );
}

function replicaText(
  { server, state, lagSeconds, reason }: ReportReplica,
  words: { behind: (seconds: number) => string; primaryInstead: string },
): string {
  const lag = lagSeconds === null ? reason : words.behind(Math.round(lagSeconds));
  return [server, lag, state === "following" ? null : words.primaryInstead].filter((one) => one !== null).join(" · ");
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function Currency() {
  const words = useWords(systemWords);
  const { data } = useAnswer(currencyRoutes.showCurrency);
  if (data === undefined) return null;
  const { currency, running } = data;
  return <Fact name={words.currency} value={running === currency ? currency : words.restart(running)} />;
}

function Queues({ endpoints }: { endpoints: readonly ListedEndpoint[] }) {
  const words = useWords(systemWords);
  const { number } = useFormats();
  if (endpoints.length === 0) return <EmptyState>{words.empty}</EmptyState>;
  return (
    <DataTable
      label={words.queues}
      rows={endpoints}
      keyOf={({ botId }) => botId}
      columns={[
        {
          title: words.bot,
          cell: ({ botId }) => (
            <Link to="/bots/$botId" params={{ botId }} className="row-link">
              {botId}
            </Link>
          ),
        },
        { title: words.waiting, isNumber: true, cell: ({ waiting }) => number(waiting) },
      ]}
    />
  );
}

import { currencyRoutes } from "@intermission/operator-api/currency";
import { endpointRoutes, endpointSorts } from "@intermission/operator-api/endpoints";
import { type ReportReplica, type Status, type System, statusRoutes } from "@intermission/operator-api/status";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { callOperator } from "../operator/call-operator.ts";
import { answerOf, useAnswer } from "../operator/use-operator.ts";
import { PAGE_ROWS, rowsOf, sortIn, usePages } from "../operator/use-pages.ts";
import { useMay } from "../session/use-session.ts";
import { AnswerView, AsOf, EmptyState } from "../ui/answer-view.tsx";
import { DataTable } from "../ui/data-table.tsx";
import { Page } from "../ui/page.tsx";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { Nodes } from "./nodes.tsx";
import { Settings } from "./settings.tsx";
import { systemWords } from "./words.ts";

const FRESH_MS = 15_000;

const route = getRouteApi("/shell/system");

/** The nodes, their store, what waits, how far sums have counted, and the settings in force. */
export function SystemScreen() {
  const words = useWords(systemWords);
  const may = useMay();
  const status = useAnswer(statusRoutes.showStatus);
  const isShown = may("showSystem");
  const system = useQuery({ ...answerOf(statusRoutes.showSystem), enabled: isShown, refetchInterval: FRESH_MS });
  return (
    <Page title={words.system} aside={status.data && <AsOf at={system.dataUpdatedAt || status.dataUpdatedAt} />}>
      <div className="stack">
        <AnswerView query={status} rows={2}>
          {({ version, schema, store, reportReplica }) => (
            <Facts
              title={words.server}
              facts={[
                [words.version, version],
                [words.schema, schema],
                [words.postgres, store.postgres],
                [words.store, store.server === "socket" ? words.socket : store.server],
                [words.database, store.database],
              ]}
              {...(reportReplica && reportReplica.state !== "following" && { note: words.primaryInstead })}
            >
              <Currency />
              {reportReplica && <ReplicaFacts replica={reportReplica} />}
            </Facts>
          )}
        </AnswerView>
        {isShown && (
          <AnswerView query={system}>
            {({ nodes, queues, progress, settings }) => (
              <>
                <Nodes nodes={nodes} />
                <Progress progress={progress} />
                <Waiting queues={queues} />
                <Queues />
                {status.data && <Kept status={status.data} />}
                <Settings settings={settings} />
              </>
            )}
          </AnswerView>
        )}
      </div>
    </Page>
  );
}

function ReplicaFacts({ replica: { server, lagSeconds, reason } }: { replica: ReportReplica }) {
  const words = useWords(systemWords);
  const lag = lagSeconds === null ? (reason ?? "–") : words.seconds(Math.round(lagSeconds));
  return (
    <>
      <Fact name={words.replica} value={server} />
      <Fact name={words.lag} value={lag} />
    </>
  );
}

function Kept({ status: { kept, partitionsUntil } }: { status: Pick<Status, "kept" | "partitionsUntil"> }) {
  const words = useWords(systemWords);
  const { date } = useFormats();
  return (
    <Facts
      title={words.kept}
      facts={[
        ...kept.map(({ rows, days }) => [words.rows[rows], words.days(days)] as const),
        [words.partitionsUntil, date(partitionsUntil)],
      ]}
    />
  );
}

interface FactsProps {
  title: string;
  facts: readonly (readonly [name: string, value: string])[];
  note?: string;
  children?: React.ReactNode;
}

function Facts({ title, facts, note, children }: FactsProps) {
  return (
    <section className="panel stack" aria-label={title}>
      <h2>{title}</h2>
      <dl className="facts">
        {facts.map(([name, value]) => (
          <Fact key={name} name={name} value={value} />
        ))}
        {children}
      </dl>
      {note !== undefined && <p className="secondary">{note}</p>}
    </section>
  );
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

function Progress({ progress }: Pick<System, "progress">) {
  const words = useWords(systemWords);
  const { ago, dateTime } = useFormats();
  const facts = progress.map(({ what, until }) => {
    const text = until === null ? words.nothingCounted : `${ago(until)} (${dateTime(until)})`;
    return [words.counted[what], text] as const;
  });
  return <Facts title={words.progress} facts={facts} />;
}

function Waiting({ queues }: Pick<System, "queues">) {
  const words = useWords(systemWords);
  const { number, ago } = useFormats();
  const { oldestWebhookDueAt, ...counts } = queues;
  const facts = Object.entries(counts).map(
    // The names of the counts are those of the words.
    ([name, count]) => [words.queue[name as keyof typeof counts], number(count)] as const,
  );
  const oldest = [words.oldest, oldestWebhookDueAt === null ? words.none : ago(oldestWebhookDueAt)] as const;
  return <Facts title={words.waiting} facts={[...facts, oldest]} />;
}

/** The bots with webhooks that wait, the longest queue first, or as the reader sorts them. */
function Queues() {
  const words = useWords(systemWords);
  const { number } = useFormats();
  const { sort } = route.useSearch();
  const query = { waiting: "true", sort: sortIn(sort, endpointSorts) ?? "-waiting", limit: PAGE_ROWS } as const;
  const pages = usePages(
    ["queues", query],
    (after, signal) => callOperator(endpointRoutes.listEndpoints, { query: { ...query, after } }, signal),
    { keepsRows: true },
  );
  return (
    <section aria-labelledby="queues">
      <div className="list-head">
        <h2 id="queues">{words.queues}</h2>
      </div>
      <AnswerView query={pages}>
        {(read) => (
          <DataTable
            label={words.queues}
            rows={rowsOf(
              read.pages.map(({ endpoints }) => endpoints),
              ({ botId }) => botId,
            )}
            pages={pages}
            keyOf={({ botId }) => botId}
            empty={<EmptyState>{words.empty}</EmptyState>}
            columns={[
              {
                id: "name",
                title: words.bot,
                sortBy: "server",
                cell: ({ botId, name }) => (
                  <Link to="/bots/$botId" params={{ botId }} className="row-link">
                    {name}
                    <small>{botId}</small>
                  </Link>
                ),
              },
              {
                id: "waiting",
                title: words.count,
                isNumber: true,
                sortBy: "server",
                cell: ({ waiting }) => number(waiting),
              },
            ]}
          />
        )}
      </AnswerView>
    </section>
  );
}

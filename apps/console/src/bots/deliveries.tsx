import { deliveryState } from "@intermission/ad-core/wire-fields";
import { deliveryRoutes, type ListedDelivery } from "@intermission/operator-api/deliveries";
import { getRouteApi } from "@tanstack/react-router";
import { callOperator } from "../operator/call-operator.ts";
import { useAnswer, useChange } from "../operator/use-operator.ts";
import { usePages } from "../operator/use-pages.ts";
import { useMay } from "../session/use-session.ts";
import { AnswerView, EmptyState, ShowAll, useFailedNotice } from "../ui/answer-view.tsx";
import { DataTable, type Pages } from "../ui/data-table.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { FilterSelect } from "../ui/filter-select.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useFormats } from "../words/formats.ts";
import { deliveryWords, eventWords } from "../words/vocabulary-words.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import { Advice } from "./advice.tsx";
import { explainDelivery } from "./explain-delivery.ts";
import { resultText } from "./result-text.ts";
import { botWords } from "./words.ts";

const route = getRouteApi("/shell/bots/$botId");

const looks = {
  waiting: "",
  sending: "",
  delivered: "pill-good",
  failed: "pill-bad",
  held: "pill-late",
  unknown: "pill-late",
} satisfies Record<ListedDelivery["state"], string>;

/** The webhooks of a bot, the latest first, filtered by state; one is opened with its attempts, or sent again. */
export function Deliveries({ botId }: { botId: string }) {
  const words = useWords(botWords);
  const states = deliveryWords[useLanguage()];
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const filter = { botId, state: search.state };
  const pages = usePages([deliveryRoutes.listDeliveries.path, filter], (before, signal) =>
    callOperator(deliveryRoutes.listDeliveries, { query: { ...filter, before } }, signal),
  );
  const rows = pages.data?.pages.flatMap(({ deliveries }) => deliveries) ?? [];
  return (
    <section aria-labelledby="deliveries">
      <div className="list-head">
        <h2 id="deliveries">{words.deliveries}</h2>
        <FilterSelect
          label={words.state}
          value={search.state}
          all={words.allDeliveries}
          options={deliveryState.options.map((state) => ({ value: state, text: states[state] }))}
          onChange={(state) => void navigate({ search: { ...search, state }, replace: true })}
        />
      </div>
      <AnswerView query={pages}>
        {() =>
          rows.length === 0 ? (
            <EmptyState action={search.state !== undefined && <ShowAll />}>
              {search.state === undefined ? words.noDelivery : words.noDeliveryOf}
            </EmptyState>
          ) : (
            <DeliveryTable
              rows={rows}
              pages={pages}
              onOpen={(event) => void navigate({ search: { ...search, event } })}
            />
          )
        }
      </AnswerView>
      {search.event !== undefined && (
        <Attempts eventId={search.event} onClose={() => void navigate({ search: { ...search, event: undefined } })} />
      )}
    </section>
  );
}

interface DeliveryTableProps {
  rows: readonly ListedDelivery[];
  pages: Pages;
  onOpen: (eventId: string) => void;
}

function DeliveryTable({ rows, pages, onOpen }: DeliveryTableProps) {
  const words = useWords(botWords);
  const language = useLanguage();
  const states = deliveryWords[language];
  const events = eventWords[language];
  const { dateTime, ago, number } = useFormats();
  const may = useMay();
  const notice = useNotice();
  const onFailed = useFailedNotice();
  const replay = useChange(deliveryRoutes.replayDelivery);
  const onReplay = (eventId: string) =>
    replay.mutate(
      { params: { eventId } },
      {
        onError: onFailed,
        onSuccess: () => notice({ text: words.resentOne }),
      },
    );
  return (
    <DataTable
      label={words.deliveries}
      rows={rows}
      pages={pages}
      keyOf={({ eventId }) => eventId}
      columns={[
        {
          title: words.event,
          cell: ({ eventId, event, isTest }) => (
            <button type="button" className="link row-link" onClick={() => onOpen(eventId)}>
              {events[event]}
              {isTest && <span className="pill">{words.isTest}</span>}
              <small>{eventId}</small>
            </button>
          ),
        },
        { title: words.user, cell: ({ userId, isTest }) => (isTest ? null : userId) },
        { title: words.state, cell: ({ state }) => <span className={`pill ${looks[state]}`}>{states[state]}</span> },
        { title: words.attempts, isNumber: true, cell: ({ attempts }) => number(attempts) },
        { title: words.created, cell: ({ createdAt }) => <span title={dateTime(createdAt)}>{ago(createdAt)}</span> },
        { title: words.next, cell: ({ dueAt }) => (dueAt === null ? null : ago(dueAt)) },
        {
          title: "",
          cell: ({ eventId, state }) =>
            (state === "failed" || state === "unknown") && may("replayDelivery") ? (
              <button
                type="button"
                className="link"
                aria-label={words.resendOf(eventId)}
                onClick={() => onReplay(eventId)}
              >
                {words.resendOne}
              </button>
            ) : null,
        },
      ]}
    />
  );
}

function Attempts({ eventId, onClose }: { eventId: string; onClose: () => void }) {
  const words = useWords(botWords);
  const language = useLanguage();
  const { dateTime, milliseconds } = useFormats();
  const delivery = useAnswer(deliveryRoutes.showDelivery, { params: { eventId } });
  return (
    <Dialog title={eventId} onClose={onClose}>
      <AnswerView query={delivery}>
        {({ log, body, ...shown }) => (
          <div className="stack">
            <p>{explainDelivery(language, shown, dateTime)}</p>
            <Advice attempt={log.at(-1)} />
            <ol className="attempts">
              {log.map(({ attempt, startedAt, status, errorClass, totalMs, responseText }) => (
                <li key={`${attempt} ${startedAt.getTime()}`}>
                  <strong>{resultText(language, { status, errorClass })}</strong>{" "}
                  <span className="secondary">
                    {dateTime(startedAt)}
                    {totalMs !== null && `, ${milliseconds(totalMs)}`}
                  </span>
                  {responseText !== null && <pre>{responseText.slice(0, 2000)}</pre>}
                </li>
              ))}
            </ol>
            <details>
              <summary>{words.event}</summary>
              <pre>{body}</pre>
            </details>
          </div>
        )}
      </AnswerView>
    </Dialog>
  );
}

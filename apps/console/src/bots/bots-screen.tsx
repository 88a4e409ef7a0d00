import { type Bot, botRoutes, botSorts } from "@intermission/operator-api/bots";
import { endpointRoutes, type ListedEndpoint } from "@intermission/operator-api/endpoints";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { callOperator } from "../operator/call-operator.ts";
import { answerOf } from "../operator/use-operator.ts";
import { PAGE_ROWS, rowsOf, sortIn, usePages } from "../operator/use-pages.ts";
import { useOwnBots } from "../session/use-own-bots.ts";
import { useMay } from "../session/use-session.ts";
import { AnswerView, AsOf, EmptyState, ShowAll } from "../ui/answer-view.tsx";
import { type Column, DataTable } from "../ui/data-table.tsx";
import { FilterSelect } from "../ui/filter-select.tsx";
import { ListHead } from "../ui/list-head.tsx";
import { ListView } from "../ui/list-view.tsx";
import { Page } from "../ui/page.tsx";
import { useFormats } from "../words/formats.ts";
import { categoryText } from "../words/vocabulary-words.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import { EndpointPill } from "./endpoint-pill.tsx";
import { ResendButton } from "./resend-dialog.tsx";
import { botStates } from "./search.ts";
import { botWords } from "./words.ts";

const route = getRouteApi("/shell/bots");

export function BotsScreen() {
  const may = useMay();
  return may("listBots") ? <AllBots /> : <OwnBots />;
}

function AllBots() {
  const words = useWords(botWords);
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const may = useMay();
  const { find, webhooks, state } = search;
  const filter = (changes: Partial<typeof search>) =>
    void navigate({ search: { ...search, ...changes }, replace: true });
  const bots = useBotPages(search);
  const rows = rowsOf(
    bots.data?.pages.map((page) => page.bots),
    ({ botId }) => botId,
  );
  const endpoints = useEndpoints(rows);
  const columns = useColumns(endpoints.endpointOf, {
    state: (
      <FilterSelect
        label={words.state}
        value={state}
        all={words.allStates}
        options={botStates.map((one) => ({ value: one, text: words[one] }))}
        onChange={(chosen) => filter({ state: chosen })}
      />
    ),
  });
  const isFiltered = Object.keys(search).some((name) => name !== "sort");
  const add = may("addBot") && (
    <Link to="/bots/new" className="button button-primary">
      {words.add}
    </Link>
  );
  return (
    <Page
      title={words.bots}
      aside={
        <>
          {endpoints.asOf && <AsOf at={endpoints.asOf} />}
          {add}
        </>
      }
    >
      <AnswerView query={bots}>
        {({ pages }) => (
          <>
            <ListHead
              find={find}
              findLabel={words.find}
              onFind={(typed) => filter({ find: typed })}
              count={words.count(pages.at(-1)?.total ?? 0)}
              actions={<ListView list="bots" columns={columns} />}
            >
              <label className="row">
                <input
                  type="checkbox"
                  checked={webhooks !== undefined}
                  onChange={({ target: { checked } }) => filter({ webhooks: checked ? "trouble" : undefined })}
                />
                {words.onlyFailing}
              </label>
            </ListHead>
            <DataTable
              list="bots"
              label={words.bots}
              columns={columns}
              rows={rows}
              pages={bots}
              keyOf={({ botId }) => botId}
              empty={
                <EmptyState action={isFiltered ? <ShowAll /> : add}>
                  {isFiltered ? words.noMatch : words.none}
                </EmptyState>
              }
            />
          </>
        )}
      </AnswerView>
    </Page>
  );
}

function useBotPages({ find, webhooks, state, sort }: ReturnType<typeof route.useSearch>) {
  const query = {
    find,
    trouble: webhooks !== undefined || undefined,
    suspended: state === undefined ? undefined : state === "suspended",
    sort: sortIn(sort, botSorts),
    limit: PAGE_ROWS,
  } as const;
  return usePages(
    ["bots", query],
    (after, signal) => callOperator(botRoutes.listBots, { query: { ...query, after } }, signal),
    { keepsRows: true },
  );
}

/** A publisher's few. */
function OwnBots() {
  const words = useWords(botWords);
  const bots = useOwnBots();
  const columns = useColumns(useEndpoints(bots.data ?? []).endpointOf);
  return (
    <Page title={words.bots}>
      <AnswerView query={bots}>
        {(own) => (
          <DataTable
            list="bots"
            label={words.bots}
            columns={columns.map(({ sortBy: _, ...column }) => column)}
            rows={own}
            keyOf={({ botId }) => botId}
            empty={<EmptyState>{words.none}</EmptyState>}
          />
        )}
      </AnswerView>
    </Page>
  );
}

/** The server takes so many bots at once. */
const MAX_BOTS = 1000;

/** The endpoints of the bots that are shown, for those who may list them. */
function useEndpoints(bots: readonly Bot[]) {
  const may = useMay();
  const ids = bots.map(({ botId }) => botId).slice(-MAX_BOTS);
  const { data } = useQuery({
    ...answerOf(endpointRoutes.listEndpoints, { query: { bots: ids.join(",") } }),
    enabled: may("listEndpoints") && ids.length > 0,
    placeholderData: keepPreviousData,
  });
  return { endpointOf: new Map(data?.endpoints.map((one) => [one.botId, one])), asOf: data?.asOf };
}

function useColumns(
  endpointOf: ReadonlyMap<string, ListedEndpoint>,
  filters: { state?: ReactNode } = {},
): Column<Bot>[] {
  const words = useWords(botWords);
  const language = useLanguage();
  const { number } = useFormats();
  const may = useMay();
  return [
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
      id: "username",
      title: words.username,
      sortBy: "server",
      cell: ({ username }) => username !== null && <small>{`@${username}`}</small>,
    },
    {
      id: "category",
      title: words.category,
      sortBy: "server",
      cell: ({ category }) => category && categoryText(language, category),
    },
    {
      id: "state",
      title: words.state,
      sortBy: "server",
      filter: filters.state,
      cell: ({ isSuspended }) =>
        isSuspended ? <span className="pill pill-late">{words.suspended}</span> : <span>{words.active}</span>,
    },
    {
      id: "endpoint",
      title: words.endpoint,
      cell: ({ botId }) => <EndpointPill endpoint={endpointOf.get(botId)} />,
    },
    {
      id: "waiting",
      title: words.waiting,
      isNumber: true,
      sortBy: "server",
      cell: ({ botId }) => number(endpointOf.get(botId)?.waiting ?? 0),
    },
    {
      title: "",
      cell: ({ botId, name }) =>
        endpointOf.get(botId)?.url && may("replayDeliveries") ? <ResendButton botId={botId} name={name} /> : null,
    },
  ];
}

import type { Bot } from "@intermission/operator-api/bots";
import { endpointRoutes, type ListedEndpoint } from "@intermission/operator-api/endpoints";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { wholeListOf } from "../operator/use-operator.ts";
import { useBots } from "../session/use-bots.ts";
import { useMay } from "../session/use-session.ts";
import { AnswerView, AsOf, EmptyState, ShowAll } from "../ui/answer-view.tsx";
import { type Column, DataTable } from "../ui/data-table.tsx";
import { isFound, ListHead } from "../ui/list-head.tsx";
import { ListView } from "../ui/list-view.tsx";
import { Page } from "../ui/page.tsx";
import { useFormats } from "../words/formats.ts";
import { categoryText } from "../words/vocabulary-words.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import { EndpointPill } from "./endpoint-pill.tsx";
import { troubleOf } from "./endpoint-trouble.ts";
import { ResendButton } from "./resend-dialog.tsx";
import { botWords } from "./words.ts";

const route = getRouteApi("/shell/bots");

export function BotsScreen() {
  const words = useWords(botWords);
  const search = route.useSearch();
  const { find, webhooks } = search;
  const navigate = route.useNavigate();
  const may = useMay();
  const bots = useBots();
  const endpoints = useQuery({ ...wholeListOf(endpointRoutes.listEndpoints), enabled: may("listEndpoints") });
  const endpointOf = new Map(endpoints.data?.endpoints.map((endpoint) => [endpoint.botId, endpoint]));
  const columns = useColumns(endpointOf);
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
          {endpoints.data && <AsOf at={endpoints.data.asOf} />}
          {add}
        </>
      }
    >
      <AnswerView query={bots}>
        {(all) => {
          if (all.length === 0) return <EmptyState action={add}>{words.none}</EmptyState>;
          const isShown = ({ botId }: Bot) => {
            const endpoint = endpointOf.get(botId);
            return webhooks === undefined || (endpoint !== undefined && troubleOf(endpoint) !== undefined);
          };
          const found = all.filter(isShown).filter((bot) => isFound(find, [bot.name, bot.username, bot.botId]));
          return (
            <>
              <ListHead
                find={find}
                findLabel={words.find}
                onFind={(typed) => void navigate({ search: { ...search, find: typed }, replace: true })}
                count={words.count(found.length)}
                actions={<ListView list="bots" columns={columns} />}
              >
                <label className="row">
                  <input
                    type="checkbox"
                    checked={webhooks !== undefined}
                    onChange={({ target: { checked } }) =>
                      navigate({ search: { ...search, webhooks: checked ? "trouble" : undefined }, replace: true })
                    }
                  />
                  {words.onlyFailing}
                </label>
              </ListHead>
              {found.length === 0 ? (
                <EmptyState action={<ShowAll />}>{words.noMatch}</EmptyState>
              ) : (
                <DataTable list="bots" label={words.bots} columns={columns} rows={found} keyOf={({ botId }) => botId} />
              )}
            </>
          );
        }}
      </AnswerView>
    </Page>
  );
}

function useColumns(endpointOf: ReadonlyMap<string, ListedEndpoint>): Column<Bot>[] {
  const words = useWords(botWords);
  const language = useLanguage();
  const { number } = useFormats();
  const may = useMay();
  return [
    {
      id: "name",
      title: words.bot,
      sortBy: ({ name }) => name,
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
      sortBy: ({ username }) => username,
      cell: ({ username }) => username !== null && <small>{`@${username}`}</small>,
    },
    {
      id: "category",
      title: words.category,
      sortBy: ({ category }) => category && categoryText(language, category),
      cell: ({ category }) => category && categoryText(language, category),
    },
    {
      id: "state",
      title: words.state,
      sortBy: ({ isSuspended }) => (isSuspended ? words.suspended : words.active),
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
      sortBy: ({ botId }) => endpointOf.get(botId)?.waiting ?? 0,
      cell: ({ botId }) => number(endpointOf.get(botId)?.waiting ?? 0),
    },
    {
      title: "",
      cell: ({ botId, name }) =>
        endpointOf.get(botId)?.url && may("replayDeliveries") ? <ResendButton botId={botId} name={name} /> : null,
    },
  ];
}

import { peopleRoutes, personSorts } from "@intermission/operator-api/people";
import type { Person } from "@intermission/operator-api/session";
import { getRouteApi } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { callOperator } from "../operator/call-operator.ts";
import { PAGE_ROWS, rowsOf, sortIn, usePages } from "../operator/use-pages.ts";
import { useMay } from "../session/use-session.ts";
import { AnswerView, AsOf, EmptyState, ShowAll } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { type Column, DataTable } from "../ui/data-table.tsx";
import { ListHead } from "../ui/list-head.tsx";
import { ListView } from "../ui/list-view.tsx";
import { Page } from "../ui/page.tsx";
import { roleWords } from "../words/role-words.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import { PersonActions } from "./person-actions.tsx";
import { peopleWords } from "./words.ts";

/** A form is loaded when it is opened. */
const InviteDialog = lazy(async () => ({ default: (await import("./invite-dialog.tsx")).InviteDialog }));

const route = getRouteApi("/shell/people");

/** Who may sign in, with which role. */
export function PeopleScreen() {
  const words = useWords(peopleWords);
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const people = usePeoplePages(search);
  const [isInviting, setInviting] = useState(false);
  const columns = useColumns();
  const may = useMay();
  return (
    <Page
      title={words.people}
      aside={
        <>
          {people.data && <AsOf at={people.dataUpdatedAt} />}
          {may("invitePerson") && (
            <Button look="primary" onClick={() => setInviting(true)}>
              {words.invite}
            </Button>
          )}
        </>
      }
    >
      <AnswerView query={people} rows={4}>
        {({ pages }) => (
          <>
            <ListHead
              find={search.find}
              findLabel={words.find}
              onFind={(find) => void navigate({ search: { ...search, find }, replace: true })}
              count={words.count(pages.at(-1)?.total ?? 0)}
              actions={<ListView list="people" columns={columns} />}
            />
            <DataTable
              list="people"
              label={words.people}
              columns={columns}
              rows={rowsOf(
                pages.map((page) => page.people),
                ({ personId }) => personId,
              )}
              pages={people}
              keyOf={({ personId }) => personId}
              empty={<EmptyState action={<ShowAll />}>{words.noMatch}</EmptyState>}
            />
          </>
        )}
      </AnswerView>
      <Suspense>{isInviting && <InviteDialog onClose={() => setInviting(false)} />}</Suspense>
    </Page>
  );
}

function usePeoplePages({ find, sort }: ReturnType<typeof route.useSearch>) {
  const query = { find, sort: sortIn(sort, personSorts), limit: PAGE_ROWS };
  return usePages(
    ["people", query],
    (after, signal) => callOperator(peopleRoutes.listPeople, { query: { ...query, after } }, signal),
    { keepsRows: true },
  );
}

function useColumns(): Column<Person>[] {
  const words = useWords(peopleWords);
  const roles = roleWords[useLanguage()];
  return [
    { id: "email", title: words.email, sortBy: "server", cell: ({ email }) => email },
    { id: "role", title: words.role, sortBy: "server", cell: ({ role }) => roles[role] },
    {
      id: "sees",
      title: words.sees,
      sortBy: "server",
      cell: ({ advertiser, botIds }) => advertiser ?? (botIds.length === 0 ? words.everything : botIds.join(", ")),
    },
    { id: "state", title: words.state, cell: (person) => <StatePill person={person} /> },
    { title: words.account, cell: (person) => <PersonActions person={person} /> },
  ];
}

function StatePill({ person: { isDisabled, isSignedIn, signInMethods } }: { person: Person }) {
  const words = useWords(peopleWords);
  if (isDisabled) return <span className="pill pill-late">{words.disabled}</span>;
  if (signInMethods.length === 0 && !isSignedIn) return <span className="pill">{words.invited}</span>;
  return <span className="pill pill-good">{words.active}</span>;
}

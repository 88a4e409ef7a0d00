import { type AdvertiserMoney, type ListedMoney, moneyRoutes, moneySorts } from "@intermission/operator-api/money";
import { getRouteApi, Link } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { callOperator } from "../operator/call-operator.ts";
import { PAGE_ROWS, rowsOf, sortIn, usePages } from "../operator/use-pages.ts";
import { useMay, usePerson } from "../session/use-session.ts";
import { AnswerView, AsOf, EmptyState, ShowAll } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { type Column, DataTable } from "../ui/data-table.tsx";
import { FilterSelect } from "../ui/filter-select.tsx";
import { ListHead } from "../ui/list-head.tsx";
import { ListView } from "../ui/list-view.tsx";
import { Page } from "../ui/page.tsx";
import { useFormats } from "../words/formats.ts";
import { billingWords, termsWords } from "../words/terms-words.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import { AdvertiserAccount } from "./advertiser-account.tsx";
import { HeldPayments } from "./held-payments.tsx";
import { advertiserFilters } from "./search.ts";
import { advertiserWords } from "./words.ts";

/** Forms are loaded when they are opened. */
const AddAdvertiserDialog = lazy(async () => ({
  default: (await import("./add-advertiser-dialog.tsx")).AddAdvertiserDialog,
}));
const TopUpDialog = lazy(async () => ({ default: (await import("./top-up-dialog.tsx")).TopUpDialog }));

const route = getRouteApi("/shell/advertisers");

/** The advertisers with their money; with the role `advertiser`, only the person's own. */
export function AdvertisersScreen() {
  const { advertiserId } = usePerson();
  return advertiserId === null ? <AllAdvertisers /> : <AdvertiserAccount advertiserId={advertiserId} />;
}

function AllAdvertisers() {
  const words = useWords(advertiserWords);
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const may = useMay();
  const [isAdded, setAdded] = useState(false);
  const [toppedUp, setToppedUp] = useState<AdvertiserMoney>();
  const filter = (changes: Partial<typeof search>) =>
    void navigate({ search: { ...search, ...changes }, replace: true });
  const { find, state } = search;
  const advertisers = useAdvertiserPages(search);
  const latest = advertisers.data?.pages.at(-1);
  const currency = latest?.currency ?? "USD";
  const stateFilter = (
    <FilterSelect
      label={words.state}
      value={state}
      all={words.allStates}
      options={advertiserFilters.map((one) => ({ value: one, text: words[one] }))}
      onChange={(chosen) => filter({ state: chosen })}
    />
  );
  const columns = useColumns({ currency, onTopUp: setToppedUp, stateFilter });
  const isFiltered = find !== undefined || state !== undefined;
  const add = may("addAdvertiser") && <Button onClick={() => setAdded(true)}>{words.add}</Button>;
  return (
    <Page
      title={words.advertisers}
      aside={
        <>
          {latest && <AsOf at={advertisers.dataUpdatedAt} />}
          {may("addAdvertiser") && (
            <Button look="primary" onClick={() => setAdded(true)}>
              {words.add}
            </Button>
          )}
        </>
      }
    >
      <HeldPayments />
      <AnswerView query={advertisers}>
        {({ pages }) => (
          <>
            <ListHead
              find={find}
              findLabel={words.find}
              onFind={(typed) => filter({ find: typed })}
              count={words.count(latest?.total ?? 0)}
              actions={<ListView list="advertisers" columns={columns} />}
            />
            <DataTable
              list="advertisers"
              label={words.advertisers}
              columns={columns}
              rows={rowsOf(
                pages.map((page) => page.advertisers),
                ({ advertiserId }) => advertiserId,
              )}
              pages={advertisers}
              keyOf={({ advertiserId }) => advertiserId}
              empty={
                <EmptyState action={isFiltered ? <ShowAll /> : add}>
                  {isFiltered ? words.noMatch : words.none}
                </EmptyState>
              }
            />
            <Suspense>
              {toppedUp && (
                <TopUpDialog advertiser={toppedUp} currency={currency} onClose={() => setToppedUp(undefined)} />
              )}
            </Suspense>
          </>
        )}
      </AnswerView>
      <Suspense>{isAdded && <AddAdvertiserDialog onClose={() => setAdded(false)} />}</Suspense>
    </Page>
  );
}

function useAdvertiserPages({ find, state, sort }: ReturnType<typeof route.useSearch>) {
  const query = {
    find,
    state: state === "empty" ? undefined : state,
    empty: state === "empty" || undefined,
    sort: sortIn(sort, moneySorts),
    limit: PAGE_ROWS,
  } as const;
  return usePages(
    ["advertisers", query],
    (after, signal) => callOperator(moneyRoutes.listAdvertiserMoney, { query: { ...query, after } }, signal),
    { keepsRows: true },
  );
}

interface ColumnsProps {
  currency: string;
  onTopUp: (advertiser: AdvertiserMoney) => void;
  stateFilter: ReactNode;
}

function useColumns({ currency, onTopUp, stateFilter }: ColumnsProps): Column<ListedMoney>[] {
  const words = useWords(advertiserWords);
  const terms = useWords(termsWords);
  const billings = billingWords[useLanguage()];
  const { money, number } = useFormats();
  const may = useMay();
  return [
    {
      id: "name",
      title: words.advertiser,
      sortBy: "server",
      cell: ({ advertiserId, name }) => (
        <Link to="/advertisers/$advertiserId" params={{ advertiserId }} className="row-link">
          {name}
        </Link>
      ),
    },
    {
      id: "state",
      title: words.state,
      sortBy: "server",
      filter: stateFilter,
      cell: ({ state }) =>
        state === "archived" ? <span className="pill pill-late">{words.archived}</span> : words.active,
    },
    {
      id: "campaigns",
      title: words.campaigns,
      isNumber: true,
      sortBy: "server",
      cell: ({ campaigns }) => number(campaigns),
    },
    {
      id: "billing",
      title: terms.billing,
      sortBy: "server",
      cell: ({ billing }) => billings[billing],
    },
    {
      id: "balance",
      title: words.balance,
      isNumber: true,
      sortBy: "server",
      cell: ({ balanceMicros }) => money(balanceMicros, currency),
    },
    {
      id: "available",
      title: words.available,
      isNumber: true,
      sortBy: "server",
      cell: ({ availableMicros }) =>
        availableMicros === null ? (
          words.noLimit
        ) : (
          <span className={availableMicros === 0 ? "fault" : undefined}>{money(availableMicros, currency)}</span>
        ),
    },
    {
      title: words.topUp,
      cell: (advertiser) =>
        may("recordTopUp") && (
          <Button look="quiet" aria-label={words.topUpOf(advertiser.name)} onClick={() => onTopUp(advertiser)}>
            {words.topUp}
          </Button>
        ),
    },
  ];
}

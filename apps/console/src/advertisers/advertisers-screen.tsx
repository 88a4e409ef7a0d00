import { type Advertiser, advertiserRoutes } from "@intermission/operator-api/advertisers";
import { type AdvertiserMoney, moneyRoutes } from "@intermission/operator-api/money";
import { getRouteApi, Link } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { useWholeList } from "../operator/use-operator.ts";
import { useMay, usePerson } from "../session/use-session.ts";
import { AnswerView, AsOf, EmptyState, ShowAll } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { type Column, DataTable } from "../ui/data-table.tsx";
import { FilterSelect } from "../ui/filter-select.tsx";
import { isFound, ListHead } from "../ui/list-head.tsx";
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
  const money = useWholeList(moneyRoutes.listAdvertiserMoney);
  const advertisers = useWholeList(advertiserRoutes.listAdvertisers);
  const [isAdded, setAdded] = useState(false);
  const [toppedUp, setToppedUp] = useState<AdvertiserMoney>();
  const filter = (changes: Partial<typeof search>) =>
    void navigate({ search: { ...search, ...changes }, replace: true });
  const countOf = new Map(advertisers.data?.advertisers.map((one) => [one.advertiserId, one]));
  const columns = useColumns({ countOf, currency: money.data?.currency ?? "USD", onTopUp: setToppedUp });
  return (
    <Page
      title={words.advertisers}
      aside={
        <>
          {money.data && <AsOf at={money.dataUpdatedAt} />}
          {may("addAdvertiser") && (
            <Button look="primary" onClick={() => setAdded(true)}>
              {words.add}
            </Button>
          )}
        </>
      }
    >
      <HeldPayments />
      <AnswerView query={money}>
        {({ advertisers: all, currency }) => {
          const shown = matching(all, search);
          return (
            <>
              <ListHead
                find={search.find}
                findLabel={words.find}
                onFind={(find) => filter({ find })}
                count={words.count(shown.length)}
                actions={<ListView list="advertisers" columns={columns} />}
              >
                <FilterSelect
                  label={words.state}
                  value={search.state}
                  all={words.allStates}
                  options={advertiserFilters.map((state) => ({ value: state, text: words[state] }))}
                  onChange={(state) => filter({ state })}
                />
              </ListHead>
              {shown.length === 0 ? (
                <EmptyState
                  action={
                    all.length > 0 ? (
                      <ShowAll />
                    ) : (
                      may("addAdvertiser") && <Button onClick={() => setAdded(true)}>{words.add}</Button>
                    )
                  }
                >
                  {all.length === 0 ? words.none : words.noMatch}
                </EmptyState>
              ) : (
                <DataTable
                  list="advertisers"
                  label={words.advertisers}
                  columns={columns}
                  rows={shown}
                  keyOf={({ advertiserId }) => advertiserId}
                />
              )}
              <Suspense>
                {toppedUp && (
                  <TopUpDialog advertiser={toppedUp} currency={currency} onClose={() => setToppedUp(undefined)} />
                )}
              </Suspense>
            </>
          );
        }}
      </AnswerView>
      <Suspense>{isAdded && <AddAdvertiserDialog onClose={() => setAdded(false)} />}</Suspense>
    </Page>
  );
}

type Search = ReturnType<typeof route.useSearch>;

function matching(all: readonly AdvertiserMoney[], { find, state }: Search): AdvertiserMoney[] {
  return all.filter(
    (one) =>
      isFound(find, [one.name, one.advertiserId]) &&
      (state === undefined || (state === "empty" ? one.availableMicros === 0 : one.state === state)),
  );
}

interface ColumnsProps {
  countOf: ReadonlyMap<string, Advertiser>;
  currency: string;
  onTopUp: (advertiser: AdvertiserMoney) => void;
}

function useColumns({ countOf, currency, onTopUp }: ColumnsProps): Column<AdvertiserMoney>[] {
  const words = useWords(advertiserWords);
  const terms = useWords(termsWords);
  const billings = billingWords[useLanguage()];
  const { money, number } = useFormats();
  const may = useMay();
  return [
    {
      id: "name",
      title: words.advertiser,
      sortBy: ({ name }) => name,
      cell: ({ advertiserId, name }) => (
        <Link to="/advertisers/$advertiserId" params={{ advertiserId }} className="row-link">
          {name}
        </Link>
      ),
    },
    {
      id: "state",
      title: words.state,
      sortBy: ({ state }) => (state === "archived" ? words.archived : words.active),
      cell: ({ state }) =>
        state === "archived" ? <span className="pill pill-late">{words.archived}</span> : words.active,
    },
    {
      id: "campaigns",
      title: words.campaigns,
      isNumber: true,
      sortBy: ({ advertiserId }) => countOf.get(advertiserId)?.campaigns,
      cell: ({ advertiserId }) => {
        const counted = countOf.get(advertiserId);
        return counted && number(counted.campaigns);
      },
    },
    {
      id: "billing",
      title: terms.billing,
      sortBy: ({ billing }) => billings[billing],
      cell: ({ billing }) => billings[billing],
    },
    {
      id: "balance",
      title: words.balance,
      isNumber: true,
      sortBy: ({ balanceMicros }) => balanceMicros,
      cell: ({ balanceMicros }) => money(balanceMicros, currency),
    },
    {
      id: "available",
      title: words.available,
      isNumber: true,
      // Without a limit there is more than any amount.
      sortBy: ({ availableMicros }) => availableMicros ?? Number.POSITIVE_INFINITY,
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

import {
  type CampaignStatus,
  campaignStatuses,
  phasesOfActive,
  phasesOfReview,
} from "@intermission/operator-api/campaign-words";
import { getRouteApi, Link } from "@tanstack/react-router";
import { type ReactNode, useRef, useState } from "react";
import { rowsOf } from "../operator/use-pages.ts";
import { AdvertiserPicker } from "../session/advertiser-picker.tsx";
import { useMay, usePerson } from "../session/use-session.ts";
import { AnswerView, AsOf, EmptyState, ShowAll } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { CsvButton } from "../ui/csv-button.tsx";
import { type Column, DataTable, type Pages } from "../ui/data-table.tsx";
import { FilterSelect } from "../ui/filter-select.tsx";
import { ListHead } from "../ui/list-head.tsx";
import { ListView } from "../ui/list-view.tsx";
import { Page } from "../ui/page.tsx";
import { useLanguage, useWords } from "../words/word-table.ts";
import { type ListedCampaign, useCampaignColumns } from "./campaign-columns.tsx";
import { DuplicateDialog } from "./duplicate-dialog.tsx";
import type { CampaignsSearch } from "./search.ts";
import { SelectedCampaigns } from "./selected-campaigns.tsx";
import { useCampaignPages } from "./use-campaign-pages.ts";
import { useStatusChanges } from "./use-status-changes.ts";
import { campaignWords, phaseWords } from "./words.ts";
import "./campaigns.css";

const route = getRouteApi("/shell/campaigns");
const states = { active: "active", paused: "pausedState", archived: "archivedState" } as const satisfies Record<
  CampaignStatus,
  string
>;

/** The campaigns with spend, pace and what is left: budgets are changed in the list, an advertiser is paused as a whole. */
export function CampaignsScreen() {
  const words = useWords(campaignWords);
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const may = useMay();
  const { advertiserId } = usePerson();
  const { pages, readCsv, readActive, activeCount } = useCampaignPages(search);
  const [duplicated, setDuplicated] = useState<ListedCampaign>();
  const { pause } = useStatusChanges();
  const filter = (changes: Partial<typeof search>) =>
    void navigate({ search: { ...search, ...changes }, replace: true });
  const latest = pages.data?.pages.at(-1);
  const columns = useCampaignColumns(latest?.currency ?? "USD", setDuplicated).map((column) =>
    withFilter(column, {
      // Advertisers see only their own.
      name: advertiserId === null && (
        <AdvertiserPicker
          label={words.advertiser}
          value={search.advertiser}
          all={words.allAdvertisers}
          onChange={(advertiser) => filter({ advertiser })}
        />
      ),
      state: <StateFilter search={search} onChange={filter} />,
    }),
  );
  const isFiltered = Object.keys(search).some((name) => name !== "sort");
  return (
    <Page
      title={words.campaigns}
      aside={
        <>
          {pages.data && <AsOf at={pages.dataUpdatedAt} />}
          {may("draftCampaign") && <AddLink />}
        </>
      }
    >
      <AnswerView query={pages} rows={6}>
        {(read) => {
          const rows = rowsOf(
            read.pages.map(({ campaigns }) => campaigns),
            ({ campaignId }) => campaignId,
          );
          const total = latest?.total ?? 0;
          return (
            <>
              <ListHead
                find={search.find}
                findLabel={words.find}
                onFind={(find) => filter({ find })}
                count={words.count(total)}
                actions={
                  <>
                    {activeCount > 0 && may("pauseCampaign") && (
                      <Button onClick={async () => void pause(await readActive())}>
                        {words.pauseAll(activeCount)}
                      </Button>
                    )}
                    <ListView list="campaigns" columns={columns} />
                    <CsvButton readCsv={readCsv} isEmpty={total === 0}>
                      {words.csv}
                    </CsvButton>
                  </>
                }
              />
              <Campaigns
                campaigns={rows}
                columns={columns}
                pages={pages}
                empty={<NoCampaign isFiltered={isFiltered} />}
              />
            </>
          );
        }}
      </AnswerView>
      {duplicated && <DuplicateDialog campaign={duplicated} onClose={() => setDuplicated(undefined)} />}
    </Page>
  );
}

function NoCampaign({ isFiltered }: { isFiltered: boolean }) {
  const words = useWords(campaignWords);
  const may = useMay();
  return (
    <EmptyState action={isFiltered ? <ShowAll /> : may("draftCampaign") && <AddLink />}>
      {isFiltered ? words.noMatch : words.none}
    </EmptyState>
  );
}

function withFilter<Row>(column: Column<Row>, filters: Readonly<Record<string, ReactNode>>): Column<Row> {
  const filter = filters[column.id ?? ""];
  return filter === undefined ? column : { ...column, filter };
}

/** The list with what is chosen in it: of that, what the filters still show is acted on. */
function Campaigns({
  campaigns,
  columns,
  pages,
  empty,
}: {
  campaigns: readonly ListedCampaign[];
  columns: Column<ListedCampaign>[];
  pages: Pages;
  empty: ReactNode;
}) {
  const words = useWords(campaignWords);
  const may = useMay();
  const [selected, onSelect] = useState<ReadonlySet<string>>(new Set());
  const table = useRef<HTMLTableElement>(null);
  const chosen = campaigns.filter(({ campaignId }) => selected.has(campaignId));
  const isOffered = may("pauseCampaign") || may("resumeCampaign") || may("archiveCampaign");
  return (
    <>
      <DataTable
        label={words.campaigns}
        list="campaigns"
        columns={columns}
        rows={campaigns}
        pages={pages}
        empty={empty}
        keyOf={({ campaignId }) => campaignId}
        selection={isOffered ? { selected, onSelect, nameOf: ({ name }) => name, table } : undefined}
      />
      <SelectedCampaigns campaigns={chosen} table={table} onClear={() => onSelect(new Set())} />
    </>
  );
}

function AddLink() {
  const words = useWords(campaignWords);
  return (
    <Link to="/campaigns/new" className="button button-primary">
      {words.add}
    </Link>
  );
}

interface StateFilterProps {
  search: CampaignsSearch;
  onChange: (changes: Pick<CampaignsSearch, "status" | "phase">) => void;
}

/** Filters by status, by the phase of an active campaign, and by the review of an advertiser's campaign. */
function StateFilter({ search: { status, phase }, onChange }: StateFilterProps) {
  const words = useWords(campaignWords);
  const phases = phaseWords[useLanguage()];
  const offered = [...phasesOfActive, ...phasesOfReview];
  return (
    <FilterSelect
      label={words.state}
      value={phase ?? status}
      all={words.allStates}
      options={[
        ...campaignStatuses.map((state) => ({ value: state, text: words[states[state]] })),
        ...offered.map((one) => ({ value: one, text: phases[one] })),
      ]}
      onChange={(chosen) =>
        onChange({
          status: campaignStatuses.find((one) => one === chosen),
          phase: offered.find((one) => one === chosen),
        })
      }
    />
  );
}

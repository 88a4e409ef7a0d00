import { type CampaignStatus, campaignStatuses } from "@intermission/operator-api/campaign-words";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useMemo, useRef, useState } from "react";
import { useCampaigns } from "../session/use-campaigns.ts";
import { useMay } from "../session/use-session.ts";
import { AnswerView, AsOf, EmptyState, ShowAll } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { type Column, DataTable } from "../ui/data-table.tsx";
import { FilterSelect } from "../ui/filter-select.tsx";
import { isFound, ListHead } from "../ui/list-head.tsx";
import { ListView } from "../ui/list-view.tsx";
import { Page } from "../ui/page.tsx";
import { sortRows } from "../ui/sort-rows.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import { type ListedCampaign, useCampaignColumns } from "./campaign-columns.tsx";
import { CsvButton } from "./csv-button.tsx";
import { DuplicateDialog } from "./duplicate-dialog.tsx";
import { phaseOf } from "./pace.ts";
import { SelectedCampaigns } from "./selected-campaigns.tsx";
import { useStatusChanges } from "./use-status-changes.ts";
import { campaignWords } from "./words.ts";
import "./campaigns.css";

const route = getRouteApi("/shell/campaigns");
const states = { active: "active", paused: "pausedState", archived: "archivedState" } as const satisfies Record<
  CampaignStatus,
  string
>;

const none: ListedCampaign[] = [];

/** The campaigns with spend, pace and what is left: budgets are changed in the list, an advertiser is paused as a whole. */
export function CampaignsScreen() {
  const words = useWords(campaignWords);
  const language = useLanguage();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const may = useMay();
  const campaigns = useCampaigns({ archived: search.status === "archived" });
  const [duplicated, setDuplicated] = useState<ListedCampaign>();
  const { pause } = useStatusChanges();
  const all = campaigns.data?.campaigns ?? none;
  const shown = useMemo(() => matching(all, search), [all, search]);
  const columns = useCampaignColumns(campaigns.data?.currency ?? "USD", setDuplicated);
  const filter = (changes: Partial<typeof search>) =>
    void navigate({ search: { ...search, ...changes }, replace: true });
  return (
    <Page
      title={words.campaigns}
      aside={
        <>
          {campaigns.data && <AsOf at={campaigns.dataUpdatedAt} />}
          {may("addCampaign") && <AddLink />}
        </>
      }
    >
      <AnswerView query={campaigns} rows={6}>
        {({ currency }) => {
          const running = shown.filter(({ status }) => status === "active");
          const advertisers = [...new Set(all.map(({ advertiser }) => advertiser))].sort();
          return (
            <>
              <ListHead
                find={search.find}
                findLabel={words.find}
                onFind={(find) => filter({ find })}
                count={words.count(shown.length)}
                actions={
                  <>
                    {search.advertiser !== undefined && running.length > 0 && may("pauseCampaign") && (
                      <Button onClick={() => void pause(running)}>{words.pauseAll(running.length)}</Button>
                    )}
                    <ListView list="campaigns" columns={columns} />
                    <CsvButton
                      campaigns={shown}
                      sorted={(rows) => sortRows(rows, columns, search.sort, language)}
                      currency={currency}
                    />
                  </>
                }
              >
                <FilterSelect
                  label={words.advertiser}
                  value={search.advertiser}
                  all={words.allAdvertisers}
                  options={advertisers.map((advertiser) => ({ value: advertiser, text: advertiser }))}
                  onChange={(advertiser) => filter({ advertiser })}
                />
                <StateFilter value={search.status} onChange={(status) => filter({ status, phase: undefined })} />
              </ListHead>
              {shown.length === 0 ? (
                <EmptyState action={all.length > 0 ? <ShowAll /> : may("addCampaign") && <AddLink />}>
                  {all.length === 0 ? words.none : words.noMatch}
                </EmptyState>
              ) : (
                <Campaigns campaigns={shown} columns={columns} />
              )}
            </>
          );
        }}
      </AnswerView>
      {duplicated && <DuplicateDialog campaign={duplicated} onClose={() => setDuplicated(undefined)} />}
    </Page>
  );
}

/** The list with what is chosen in it: of that, what the filters still show is acted on. */
function Campaigns({
  campaigns,
  columns,
}: {
  campaigns: readonly ListedCampaign[];
  columns: Column<ListedCampaign>[];
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

type Search = ReturnType<typeof route.useSearch>;

function matching(all: readonly ListedCampaign[], { find, advertiser, status, phase }: Search): ListedCampaign[] {
  const now = Date.now();
  return all.filter(
    (campaign) =>
      isFound(find, [campaign.name, campaign.advertiser, campaign.campaignId]) &&
      (advertiser === undefined || campaign.advertiser === advertiser) &&
      (status === undefined || campaign.status === status) &&
      (phase === undefined || phaseOf(campaign, now) === phase),
  );
}

function StateFilter({ value, onChange }: { value: Search["status"]; onChange: (status: Search["status"]) => void }) {
  const words = useWords(campaignWords);
  return (
    <FilterSelect
      label={words.state}
      value={value}
      all={words.allStates}
      options={campaignStatuses.map((state) => ({ value: state, text: words[states[state]] }))}
      onChange={onChange}
    />
  );
}

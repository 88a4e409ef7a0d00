import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { useCampaigns } from "../session/use-campaigns.ts";
import { useMay } from "../session/use-session.ts";
import { AnswerView, AsOf, EmptyState, ShowAll } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { DataTable } from "../ui/data-table.tsx";
import { FilterSelect } from "../ui/filter-select.tsx";
import { isFound, ListHead } from "../ui/list-head.tsx";
import { Page } from "../ui/page.tsx";
import { useWords } from "../words/word-table.ts";
import { type ListedCampaign, useCampaignColumns } from "./campaign-columns.tsx";
import { CsvButton } from "./csv-button.tsx";
import { DuplicateDialog } from "./duplicate-dialog.tsx";
import { phaseOf } from "./pace.ts";
import { useStatusChanges } from "./use-status-changes.ts";
import { campaignWords } from "./words.ts";
import "./campaigns.css";

const route = getRouteApi("/shell/campaigns");
const states = { active: "active", paused: "pausedState", archived: "archivedState" } as const;

const stateNames = ["active", "paused", "archived"] as const;

/** The campaigns with spend, pace and what is left: budgets are changed in the list, an advertiser is paused as a whole. */
export function CampaignsScreen() {
  const words = useWords(campaignWords);
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const may = useMay();
  const campaigns = useCampaigns({ archived: search.status === "archived" });
  const [duplicated, setDuplicated] = useState<ListedCampaign>();
  const { pause } = useStatusChanges();
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
        {({ campaigns: all, currency }) => {
          const shown = matching(all, search);
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
                    <CsvButton campaigns={shown} currency={currency} />
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
                <DataTable
                  label={words.campaigns}
                  columns={columns}
                  rows={shown}
                  keyOf={({ campaignId }) => campaignId}
                />
              )}
            </>
          );
        }}
      </AnswerView>
      {duplicated && <DuplicateDialog campaign={duplicated} onClose={() => setDuplicated(undefined)} />}
    </Page>
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
      options={stateNames.map((state) => ({ value: state, text: words[states[state]] }))}
      onChange={onChange}
    />
  );
}

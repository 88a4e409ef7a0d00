import { creativeKinds, reviewStates } from "@intermission/operator-api/creative-words";
import type { Creative } from "@intermission/operator-api/creatives";
import { getRouteApi, Link } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { useMay, usePerson } from "../session/use-session.ts";
import { AnswerView, AsOf, EmptyState, ShowAll } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { type Column, DataTable } from "../ui/data-table.tsx";
import { FilterSelect } from "../ui/filter-select.tsx";
import { ListHead } from "../ui/list-head.tsx";
import { ListView } from "../ui/list-view.tsx";
import { Page } from "../ui/page.tsx";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { Poster, ReviewPill } from "./creative-marks.tsx";
import type { CreativesSearch } from "./search.ts";
import { UploadPanel } from "./upload-panel.tsx";
import { useAdvertisers, useCampaignsOfCreatives, useCreatives } from "./use-creatives.ts";
import { creativeWords } from "./words.ts";
import "./creatives.css";

/** A form is loaded when it is opened. */
const AddressDialog = lazy(async () => ({ default: (await import("./address-dialog.tsx")).AddressDialog }));

const route = getRouteApi("/shell/creatives");

/** The videos and VAST tags: whose they are, whether they are approved, and which campaigns show them. */
export function CreativesScreen() {
  const words = useWords(creativeWords);
  const search = route.useSearch();
  const creatives = useCreatives(search);
  const columns = useColumns();
  const may = useMay();
  const [isAddressTyped, setAddressTyped] = useState(false);
  const shown = creatives.data?.pages.flatMap((page) => page.creatives) ?? [];
  return (
    <Page
      title={words.creatives}
      aside={
        <>
          {creatives.data && <AsOf at={creatives.dataUpdatedAt} />}
          {may("addVideoByAddress") && <Button onClick={() => setAddressTyped(true)}>{words.addByAddress}</Button>}
          {may("tryVastTag") && (
            <Link to="/creatives/vast" className="button button-plain">
              {words.vastTester}
            </Link>
          )}
        </>
      }
    >
      <Suspense>{isAddressTyped && <AddressDialog onClose={() => setAddressTyped(false)} />}</Suspense>
      {may("uploadVideo") && <UploadPanel />}
      <Filters
        search={search}
        count={creatives.data && shown.length}
        view={<ListView list="creatives" columns={columns} />}
      />
      <AnswerView query={creatives} rows={6}>
        {() =>
          shown.length === 0 ? (
            <EmptyState action={Object.keys(search).length > 0 && <ShowAll />}>
              {Object.keys(search).length === 0 ? words.none : words.noMatch}
            </EmptyState>
          ) : (
            <DataTable
              list="creatives"
              label={words.creatives}
              columns={columns}
              rows={shown}
              pages={creatives}
              keyOf={({ creativeId }) => creativeId}
            />
          )
        }
      </AnswerView>
    </Page>
  );
}

interface FiltersProps {
  search: CreativesSearch;
  count: number | undefined;
  view: ReactNode;
}

function Filters({ search, count, view }: FiltersProps) {
  const words = useWords(creativeWords);
  const navigate = route.useNavigate();
  const advertisers = useAdvertisers();
  const { advertiserId } = usePerson();
  const filter = (changes: Partial<CreativesSearch>) =>
    void navigate({ search: { ...search, ...changes }, replace: true });
  return (
    <ListHead
      find={search.find}
      findLabel={words.find}
      onFind={(find) => filter({ find })}
      count={count !== undefined && words.count(count)}
      actions={view}
    >
      {advertiserId === null && (
        <FilterSelect
          label={words.advertiser}
          value={search.advertiser}
          all={words.allAdvertisers}
          options={advertisers.map(({ name }) => ({ value: name, text: name }))}
          onChange={(advertiser) => filter({ advertiser })}
        />
      )}
      <FilterSelect
        label={words.state}
        value={search.review}
        all={words.allStates}
        options={reviewStates.map((state) => ({ value: state, text: words.reviews[state] }))}
        onChange={(review) => filter({ review })}
      />
      <FilterSelect
        label={words.kind}
        value={search.kind}
        all={words.allKinds}
        options={creativeKinds.map((kind) => ({ value: kind, text: words.kinds[kind] }))}
        onChange={(kind) => filter({ kind })}
      />
    </ListHead>
  );
}

function useColumns(): Column<Creative>[] {
  const words = useWords(creativeWords);
  const { dateTime, ago, seconds, bytes } = useFormats();
  const nameOf = new Map(useAdvertisers().map(({ advertiserId, name }) => [advertiserId, name]));
  const campaigns = useCampaignsOfCreatives();
  return [
    {
      id: "creative",
      title: words.creative,
      cell: (creative) => (
        <Link to="/creatives/$creativeId" params={{ creativeId: creative.creativeId }} className="row-link creative">
          <Poster creative={creative} />
          <span>
            {creative.name ?? creative.creativeId}
            <small>{words.kinds[creative.kind]}</small>
          </span>
        </Link>
      ),
    },
    { id: "state", title: words.state, cell: ({ review }) => <ReviewPill review={review} /> },
    {
      id: "advertiser",
      title: words.advertiser,
      cell: ({ advertiserId }) =>
        advertiserId === null ? <span className="secondary">{words.operators}</span> : nameOf.get(advertiserId),
    },
    {
      id: "campaigns",
      title: words.campaigns,
      cell: ({ creativeId }) => {
        const showing = campaigns?.get(creativeId) ?? [];
        if (showing.length === 0) return campaigns && <span className="secondary">{words.notShown}</span>;
        return showing.map(({ name }) => name).join(", ");
      },
    },
    {
      id: "duration",
      title: words.duration,
      isNumber: true,
      cell: ({ durationMs }) => durationMs && seconds(durationMs / 1000),
    },
    {
      id: "size",
      title: words.size,
      isNumber: true,
      cell: ({ byteLength, width, height }) =>
        byteLength && (
          <span>
            {bytes(byteLength)} <small>{`${width}×${height}`}</small>
          </span>
        ),
    },
    {
      id: "added",
      title: words.added,
      cell: ({ createdAt }) => <span title={dateTime(createdAt)}>{ago(createdAt)}</span>,
    },
  ];
}

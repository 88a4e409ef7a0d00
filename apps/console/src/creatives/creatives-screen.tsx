import { creativeKinds, reviewStates } from "@intermission/operator-api/creative-words";
import type { ListedCreative } from "@intermission/operator-api/creatives";
import { getRouteApi, Link } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { rowsOf } from "../operator/use-pages.ts";
import { AdvertiserPicker } from "../session/advertiser-picker.tsx";
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
import { useCreatives } from "./use-creatives.ts";
import { creativeWords } from "./words.ts";
import "./creatives.css";

/** A form is loaded when it is opened. */
const AddressDialog = lazy(async () => ({ default: (await import("./address-dialog.tsx")).AddressDialog }));

const route = getRouteApi("/shell/creatives");

/** The videos and VAST tags: whose they are, whether they are approved, and which campaigns show them. */
export function CreativesScreen() {
  const words = useWords(creativeWords);
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const creatives = useCreatives(search);
  const filter = (changes: Partial<CreativesSearch>) =>
    void navigate({ search: { ...search, ...changes }, replace: true });
  const columns = useColumns(search, filter);
  const may = useMay();
  const [isAddressTyped, setAddressTyped] = useState(false);
  const isFiltered = Object.keys(search).some((name) => name !== "sort");
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
      <ListHead
        find={search.find}
        findLabel={words.find}
        onFind={(find) => filter({ find })}
        count={creatives.data && words.count(creatives.data.pages.at(-1)?.total ?? 0)}
        actions={<ListView list="creatives" columns={columns} />}
      >
        <FilterSelect
          label={words.kind}
          value={search.kind}
          all={words.allKinds}
          options={creativeKinds.map((kind) => ({ value: kind, text: words.kinds[kind] }))}
          onChange={(kind) => filter({ kind })}
        />
      </ListHead>
      <AnswerView query={creatives} rows={6}>
        {({ pages }) => (
          <DataTable
            list="creatives"
            label={words.creatives}
            columns={columns}
            rows={rowsOf(
              pages.map((page) => page.creatives),
              ({ creativeId }) => creativeId,
            )}
            pages={creatives}
            keyOf={({ creativeId }) => creativeId}
            empty={
              <EmptyState action={isFiltered && <ShowAll />}>{isFiltered ? words.noMatch : words.none}</EmptyState>
            }
          />
        )}
      </AnswerView>
    </Page>
  );
}

function useColumns(
  search: CreativesSearch,
  filter: (changes: Partial<CreativesSearch>) => void,
): Column<ListedCreative>[] {
  const words = useWords(creativeWords);
  const { dateTime, ago, seconds, bytes } = useFormats();
  const { advertiserId: ownId } = usePerson();
  return [
    {
      id: "creative",
      title: words.creative,
      sortBy: "server",
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
    {
      id: "state",
      title: words.state,
      sortBy: "server",
      filter: <StateFilter review={search.review} onChange={(review) => filter({ review })} />,
      cell: ({ review }) => <ReviewPill review={review} />,
    },
    {
      id: "advertiser",
      title: words.advertiser,
      sortBy: "server",
      filter: ownId === null && (
        <AdvertiserPicker
          label={words.advertiser}
          value={search.advertiser}
          all={words.allAdvertisers}
          onChange={(advertiser) => filter({ advertiser })}
        />
      ),
      cell: ({ advertiser }) => advertiser ?? <span className="secondary">{words.operators}</span>,
    },
    {
      id: "campaigns",
      title: words.campaigns,
      cell: ({ campaigns, campaignCount }) => {
        if (campaignCount === 0) return <span className="secondary">{words.notShown}</span>;
        const others = campaignCount - campaigns.length;
        return `${campaigns.map(({ name }) => name).join(", ")}${others > 0 ? ` +${others}` : ""}`;
      },
    },
    {
      id: "duration",
      title: words.duration,
      isNumber: true,
      sortBy: "server",
      cell: ({ durationMs }) => durationMs && seconds(durationMs / 1000),
    },
    {
      id: "size",
      title: words.size,
      isNumber: true,
      sortBy: "server",
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
      sortBy: "server",
      cell: ({ createdAt }) => <span title={dateTime(createdAt)}>{ago(createdAt)}</span>,
    },
  ];
}

interface StateFilterProps {
  review: CreativesSearch["review"];
  onChange: (review: CreativesSearch["review"]) => void;
}

function StateFilter({ review, onChange }: StateFilterProps) {
  const words = useWords(creativeWords);
  return (
    <FilterSelect
      label={words.state}
      value={review}
      all={words.allStates}
      options={reviewStates.map((state) => ({ value: state, text: words.reviews[state] }))}
      onChange={onChange}
    />
  );
}

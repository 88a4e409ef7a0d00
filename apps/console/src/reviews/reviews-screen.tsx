import { clickSuspicions, viewSuspicions } from "@intermission/operator-api/suspicions";
import { getRouteApi, Link } from "@tanstack/react-router";
import { BotName, BotPicker } from "../session/bot-picker.tsx";
import { CampaignName } from "../session/campaign-picker.tsx";
import { AnswerView, AsOf, EmptyState, ShowAll } from "../ui/answer-view.tsx";
import { type Column, DataTable } from "../ui/data-table.tsx";
import { FilterSelect } from "../ui/filter-select.tsx";
import { ListView } from "../ui/list-view.tsx";
import { Page } from "../ui/page.tsx";
import { SearchField } from "../ui/search-field.tsx";
import { uiWords } from "../ui/words.ts";
import { useFormats } from "../words/formats.ts";
import { suspicionWords } from "../words/vocabulary-words.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import { BulkButtons, RowButtons } from "./decide-buttons.tsx";
import { type ReviewState, type ReviewsSearch, reviewStates, userId } from "./search.ts";
import { type Reviewed, useReviews } from "./use-reviews.ts";
import { reviewStateWords, reviewWords } from "./words.ts";

const route = getRouteApi("/shell/reviews");

/** Suspicious views and clicks: held ones wait for a decision, one by one or all that match the filters. */
export function ReviewsScreen() {
  const words = useWords(reviewWords);
  const search = route.useSearch();
  const reviews = useReviews(search);
  const columns = useColumns(search.of === "clicks");
  const rows = reviews.data?.pages.flatMap((page) => page.rows) ?? [];
  const isFiltered = Object.keys(search).some((name) => name !== "of");
  return (
    <Page title={words.title} aside={reviews.data && <AsOf at={reviews.dataUpdatedAt} />}>
      <Filters search={search} />
      <AnswerView query={reviews} rows={6}>
        {() =>
          rows.length === 0 ? (
            <EmptyState action={isFiltered && <ShowAll keep={["of"]} />}>
              {isFiltered ? words.noneOf : words.none}
            </EmptyState>
          ) : (
            <>
              <div className="list-head">
                <span className="secondary" role="status">
                  {reviews.hasNextPage ? words.loadedOfMore(rows.length) : words.loaded(rows.length)}
                </span>
                <span className="list-actions">
                  <BulkButtons search={search} rows={rows} />
                  <ListView list="reviews" columns={columns} />
                </span>
              </div>
              <DataTable
                list="reviews"
                label={words.title}
                columns={columns}
                rows={rows}
                pages={reviews}
                keyOf={({ id }) => id}
              />
            </>
          )
        }
      </AnswerView>
    </Page>
  );
}

function Filters({ search }: { search: ReviewsSearch }) {
  const words = useWords(reviewWords);
  const { noUserId } = useWords(uiWords);
  const states = reviewStateWords[useLanguage()];
  const suspicions = suspicionWords[useLanguage()];
  const navigate = route.useNavigate();
  const filter = (changes: Partial<ReviewsSearch>) =>
    void navigate({ search: { ...search, ...changes }, replace: true });
  const known = search.of === "clicks" ? clickSuspicions : viewSuspicions;
  return (
    <div className="list-head">
      <select
        aria-label={words.what}
        value={search.of ?? "views"}
        onChange={({ target: { value } }) =>
          filter({ of: value === "clicks" ? "clicks" : undefined, suspicion: undefined })
        }
      >
        <option value="views">{words.views}</option>
        <option value="clicks">{words.clicks}</option>
      </select>
      <select
        aria-label={words.state}
        value={search.state ?? "held"}
        onChange={({ target: { value } }) =>
          filter({ state: value === "refused" || value === "paid" ? value : undefined })
        }
      >
        {reviewStates.map((state) => (
          <option key={state} value={state}>
            {states[state]}
          </option>
        ))}
      </select>
      <BotPicker label={words.bot} value={search.bot} all={words.allBots} onChange={(bot) => filter({ bot })} />
      <FilterSelect
        label={words.suspicion}
        value={search.suspicion}
        all={words.allSuspicions}
        options={known.map((one) => ({ value: one, text: suspicions[one] }))}
        onChange={(suspicion) => filter({ suspicion })}
      />
      <SearchField
        label={words.find}
        value={search.user ?? ""}
        form={{ pattern: userId, fault: noUserId }}
        onChange={(user) => filter({ user: user || undefined })}
      />
    </div>
  );
}

const looks = { held: "pill-late", refused: "pill-bad", paid: "pill-good" } satisfies Record<ReviewState, string>;

function useColumns(isOfClicks: boolean): Column<Reviewed>[] {
  const words = useWords(reviewWords);
  const states = reviewStateWords[useLanguage()];
  const suspicions = suspicionWords[useLanguage()];
  const { dateTime, ago } = useFormats();
  const time = (at: Date | null) => at && <span title={dateTime(at)}>{ago(at)}</span>;
  return [
    {
      id: "user",
      title: words.user,
      cell: ({ id, userId }) => (
        <Link to="/timeline" search={{ find: id }} className="row-link">
          {userId}
          <small>{id}</small>
        </Link>
      ),
    },
    { id: "suspicion", title: words.suspicion, cell: (row) => row.suspicions.map((one) => suspicions[one]).join(", ") },
    { id: "bot", title: words.bot, cell: ({ botId }) => <BotName botId={botId} /> },
    {
      id: "campaign",
      title: words.campaign,
      cell: ({ campaignId }) => campaignId && <CampaignName campaignId={campaignId} />,
    },
    { id: "at", title: words.at, cell: ({ at }) => time(at) },
    {
      id: "state",
      title: words.state,
      cell: ({ state, refundedAt }) => (
        <span className={`pill ${refundedAt === null ? looks[state] : ""}`}>
          {refundedAt === null ? states[state] : words.refunded}
        </span>
      ),
    },
    { id: "decided", title: words.decided, cell: ({ decidedAt }) => time(decidedAt) },
    { title: words.decide, cell: (row) => <RowButtons row={row} isClick={isOfClicks} /> },
  ];
}

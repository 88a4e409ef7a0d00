import { type ConversionRefusal, conversionRoutes } from "@intermission/operator-api/conversions";
import type { AnswerOf } from "@intermission/operator-api/route";
import { statisticsRoutes } from "@intermission/operator-api/statistics";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { callOperator } from "../operator/call-operator.ts";
import { useAnswer } from "../operator/use-operator.ts";
import { usePages } from "../operator/use-pages.ts";
import { BotPicker } from "../session/bot-picker.tsx";
import { CampaignName, CampaignPicker } from "../session/campaign-picker.tsx";
import { useMay } from "../session/use-session.ts";
import { AnswerView, AsOf, EmptyState, ShowAll } from "../ui/answer-view.tsx";
import { DataTable, type Pages } from "../ui/data-table.tsx";
import { Page } from "../ui/page.tsx";
import { useFormats } from "../words/formats.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import { ReverseButton } from "./reverse-button.tsx";
import { conversionWords, refusalWords } from "./words.ts";

const route = getRouteApi("/shell/conversions");
type Search = ReturnType<typeof route.useSearch>;
type Conversion = AnswerOf<typeof conversionRoutes.listConversions>["conversions"][number];

const DAY_MS = 86_400_000;
const periods = ["1", "7", "30", "90"] as const;

/** What advertisers reported of clicks: sums of each event with its value, and the latest reports. */
export function ConversionsScreen() {
  const words = useWords(conversionWords);
  const search = route.useSearch();
  const may = useMay();
  const { bot, campaign, event } = search;
  const filter = { botId: bot, campaignId: campaign };
  // The range keeps still while the screen is open.
  const [openedAt] = useState(() => Date.now());
  const from = new Date(openedAt - Number(search.days ?? "7") * DAY_MS);
  const sums = useAnswer(statisticsRoutes.sumConversions, { query: { ...filter, from: from.toISOString() } });
  const list = usePages(["conversions", filter, event], (after, signal) =>
    callOperator(conversionRoutes.listConversions, { query: { ...filter, event, after } }, signal),
  );
  const isFiltered = [bot, campaign, event].some((value) => value !== undefined);
  const rows = list.data?.pages.flatMap(({ conversions }) => conversions) ?? [];
  const toAdvertisers = (
    <Link to="/advertisers" className="button button-plain">
      {words.toAdvertisers}
    </Link>
  );
  return (
    <Page title={words.title} aside={list.data && <AsOf at={list.dataUpdatedAt} />}>
      <Filters search={search} />
      <div className="stack">
        <AnswerView query={sums} rows={2}>
          {(answer) => <Sums {...answer} search={search} />}
        </AnswerView>
        <AnswerView query={list}>
          {() =>
            rows.length === 0 ? (
              <EmptyState action={isFiltered ? <ShowAll keep={["days"]} /> : may("listAdvertisers") && toAdvertisers}>
                {isFiltered ? words.noMatch : words.none}
              </EmptyState>
            ) : (
              <section aria-labelledby="latest">
                <div className="list-head">
                  <h2 id="latest">{words.latest}</h2>
                  {event !== undefined && (
                    <Link to="/conversions" search={{ ...search, event: undefined }} className="link">
                      {words.allEvents}
                    </Link>
                  )}
                </div>
                <Conversions rows={rows} pages={list} />
              </section>
            )
          }
        </AnswerView>
      </div>
    </Page>
  );
}

function Filters({ search }: { search: Search }) {
  const words = useWords(conversionWords);
  const navigate = route.useNavigate();
  const filter = (changes: Partial<Search>) => void navigate({ search: { ...search, ...changes }, replace: true });
  return (
    <div className="list-head">
      <select
        aria-label={words.period}
        value={search.days ?? "7"}
        onChange={({ target: { value } }) =>
          filter({ days: value === "1" || value === "30" || value === "90" ? value : undefined })
        }
      >
        {periods.map((days) => (
          <option key={days} value={days}>
            {words.periods[days]}
          </option>
        ))}
      </select>
      <BotPicker label={words.bot} value={search.bot} all={words.allBots} onChange={(bot) => filter({ bot })} />
      <CampaignPicker
        label={words.campaign}
        value={search.campaign}
        all={words.allCampaigns}
        onChange={(campaign) => filter({ campaign })}
      />
    </div>
  );
}

function Sums({
  sums,
  refused,
  search,
}: Pick<AnswerOf<typeof statisticsRoutes.sumConversions>, "sums" | "refused"> & { search: Search }) {
  const words = useWords(conversionWords);
  const { number, money } = useFormats();
  const refusals = refusalWords[useLanguage()];
  // They are counted of all bots and campaigns together.
  const isOfAll = search.bot === undefined && search.campaign === undefined;
  const reasons = isOfAll ? (Object.entries(refused) as [ConversionRefusal, number][]) : [];
  if (sums.length === 0 && reasons.length === 0) return null;
  return (
    <section aria-labelledby="sums">
      <h2 id="sums">{words.sums}</h2>
      {sums.length > 0 && (
        <DataTable
          label={words.sums}
          rows={sums}
          keyOf={({ event, currency }) => `${event} ${currency}`}
          columns={[
            {
              title: words.event,
              cell: ({ event }) => (
                <Link to="/conversions" search={{ ...search, event: event || undefined }} replace className="row-link">
                  {event || words.unnamed}
                </Link>
              ),
            },
            { title: words.count, isNumber: true, cell: ({ conversions }) => number(conversions) },
            { title: words.value, isNumber: true, cell: ({ valueMicros, currency }) => money(valueMicros, currency) },
            { title: words.reversed, isNumber: true, cell: ({ reversed }) => number(reversed) },
          ]}
        />
      )}
      {reasons.length > 0 && (
        <p className="secondary">
          {words.refused}: {reasons.map(([reason, count]) => `${refusals[reason]} – ${number(count)}`).join(", ")}
        </p>
      )}
    </section>
  );
}

function Conversions({ rows, pages }: { rows: readonly Conversion[]; pages: Pages }) {
  const words = useWords(conversionWords);
  const { dateTime, ago, money } = useFormats();
  return (
    <DataTable
      label={words.latest}
      rows={rows}
      pages={pages}
      keyOf={({ clickId, event, conversionId }) => `${clickId} ${event} ${conversionId}`}
      columns={[
        {
          title: words.click,
          cell: ({ clickId }) => (
            <Link to="/timeline" search={{ find: clickId }} className="row-link">
              {clickId}
            </Link>
          ),
        },
        { title: words.event, cell: ({ event }) => event || <span className="secondary">{words.unnamed}</span> },
        { title: words.campaign, cell: ({ campaignId }) => <CampaignName campaignId={campaignId} /> },
        {
          title: words.value,
          isNumber: true,
          cell: ({ valueMicros, currency }) => valueMicros !== null && money(valueMicros, currency),
        },
        { title: words.at, cell: ({ occurredAt }) => <span title={dateTime(occurredAt)}>{ago(occurredAt)}</span> },
        {
          title: words.reversed,
          cell: (conversion) =>
            conversion.reversedAt === null ? (
              <ReverseButton conversion={conversion} />
            ) : (
              <span className="pill pill-late">{ago(conversion.reversedAt)}</span>
            ),
        },
      ]}
    />
  );
}

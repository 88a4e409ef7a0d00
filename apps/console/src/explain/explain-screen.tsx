import { pageLanguages } from "@intermission/ad-core/page-language";
import { botRoutes } from "@intermission/operator-api/bots";
import { adFormats, platforms, viewFormats } from "@intermission/operator-api/campaign-words";
import { explainRoutes } from "@intermission/operator-api/explain";
import type { AnswerOf } from "@intermission/operator-api/route";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { type ReactNode, useId } from "react";
import { answerOf, useAnswer } from "../operator/use-operator.ts";
import { BotPicker } from "../session/bot-picker.tsx";
import { useMay } from "../session/use-session.ts";
import { AnswerView, AsOf, EmptyState } from "../ui/answer-view.tsx";
import { DataTable } from "../ui/data-table.tsx";
import { Page } from "../ui/page.tsx";
import { SearchField } from "../ui/search-field.tsx";
import { uiWords } from "../ui/words.ts";
import { useFormats } from "../words/formats.ts";
import { eventWords, platformWords, priorityWords } from "../words/vocabulary-words.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import { userId } from "./search.ts";
import { explainWords, reasonWords } from "./words.ts";

const route = getRouteApi("/shell/explain");
type Explained = AnswerOf<typeof explainRoutes.explainChoice>["campaigns"][number];

/** A user who has seen nothing: ids of Telegram are above it. */
const NOBODY = "1";

/** Those that are shown to a user who asks for an ad. */
const shownFormats = [...new Set([...adFormats, ...viewFormats])];

/** For a bot and a user: why each running campaign is shown now, or not. */
export function ExplainScreen() {
  const { title } = useWords(explainWords);
  const { bot } = route.useSearch();
  // A single bot is chosen by default.
  const bots = useAnswer(botRoutes.listBots, { query: { limit: 2 } }).data?.bots;
  if (bot !== undefined || bots?.length !== 0)
    return <ExplainedAd only={bots?.length === 1 ? bots[0]?.botId : undefined} />;
  return (
    <Page title={title}>
      <NoBot />
    </Page>
  );
}

function ExplainedAd({ only }: { only: string | undefined }) {
  const words = useWords(explainWords);
  const { noUserId } = useWords(uiWords);
  const readerLanguage = useLanguage();
  const names = new Intl.DisplayNames(readerLanguage, { type: "language" });
  const platformTexts = platformWords[readerLanguage];
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const botId = search.bot ?? only;
  const { format = "rewarded", user, language, platform } = search;
  const change = (changes: Partial<typeof search>) =>
    void navigate({ search: { ...search, ...changes }, replace: true });
  const explained = useQuery({
    ...answerOf(explainRoutes.explainChoice, {
      query: { botId: botId ?? "", userId: user ?? NOBODY, format, language, platform },
    }),
    enabled: botId !== undefined,
  });
  return (
    <Page title={words.title} aside={explained.data && <AsOf at={explained.dataUpdatedAt} />}>
      <div className="filters">
        <Filter label={words.bot}>
          {(id) => (
            <BotPicker
              id={id}
              label={words.bot}
              value={botId}
              all={words.chooseBot}
              onChange={(bot) => change({ bot })}
            />
          )}
        </Filter>
        <Filter label={words.format}>
          {(id) => (
            <select
              id={id}
              value={format}
              onChange={(event) => change({ format: shownFormats.find((one) => one === event.target.value) })}
            >
              {shownFormats.map((one) => (
                <option key={one} value={one}>
                  {eventWords[readerLanguage][one]}
                </option>
              ))}
            </select>
          )}
        </Filter>
        <AnyOrOne
          label={words.language}
          options={pageLanguages}
          textOf={(one) => names.of(one) ?? one}
          value={language}
          onChange={(chosen) => change({ language: chosen })}
        />
        <AnyOrOne
          label={words.platform}
          options={platforms}
          textOf={(one) => platformTexts[one]}
          value={platform}
          onChange={(chosen) => change({ platform: chosen })}
        />
        <SearchField
          label={words.user}
          value={user ?? ""}
          form={{ pattern: userId, fault: noUserId }}
          onChange={(sought) => change({ user: sought || undefined })}
        />
      </div>
      {botId === undefined ? (
        <EmptyState>{words.choose}</EmptyState>
      ) : (
        <AnswerView query={explained}>{(answer) => <Explanation {...answer} />}</AnswerView>
      )}
    </Page>
  );
}

function NoBot() {
  const words = useWords(explainWords);
  const may = useMay();
  return (
    <EmptyState
      action={
        may("addBot") && (
          <Link to="/bots/new" className="button button-primary">
            {words.addBot}
          </Link>
        )
      }
    >
      {words.noBot}
    </EmptyState>
  );
}

function AnyOrOne<Option extends string>({
  label,
  options,
  textOf,
  value,
  onChange,
}: {
  label: string;
  options: readonly Option[];
  textOf: (option: Option) => string;
  value: string | undefined;
  onChange: (chosen: Option | undefined) => void;
}) {
  const { any } = useWords(explainWords);
  return (
    <Filter label={label}>
      {(id) => (
        <select
          id={id}
          value={value ?? ""}
          onChange={(event) => onChange(options.find((one) => one === event.target.value))}
        >
          <option value="">{any}</option>
          {options.map((one) => (
            <option key={one} value={one}>
              {textOf(one)}
            </option>
          ))}
        </select>
      )}
    </Filter>
  );
}

function Filter({ label, children }: { label: string; children: (id: string) => ReactNode }) {
  const id = useId();
  return (
    <div className="filter">
      <label htmlFor={id}>{label}</label>
      {children(id)}
    </div>
  );
}

function Explanation({ blocked, campaigns }: AnswerOf<typeof explainRoutes.explainChoice>) {
  const words = useWords(explainWords);
  const priorities = priorityWords[useLanguage()];
  const { dateTime } = useFormats();
  const { campaign: sought } = route.useSearch();
  const shown = campaigns.filter(({ exclusionReason }) => exclusionReason === undefined);
  const verdict = blocked && (
    <p className="verdict" role="status">
      {words.blocked[blocked.reason]}
      {blocked.availableAt !== null && ` ${words.from(dateTime(blocked.availableAt))}`}
    </p>
  );
  if (campaigns.length === 0) {
    return (
      verdict ?? (
        <EmptyState
          action={
            <Link to="/campaigns" className="button button-plain">
              {words.toCampaigns}
            </Link>
          }
        >
          {words.noCampaign}
        </EmptyState>
      )
    );
  }
  // The one that the reader came for, then those that may be shown.
  const rank = (one: Explained) => (one.campaignId === sought ? 2 : one.exclusionReason === undefined ? 1 : 0);
  const ordered = campaigns.toSorted((a, b) => rank(b) - rank(a) || b.likelihood - a.likelihood);
  return (
    <>
      {verdict ?? (
        <p className="verdict" role="status">
          {shown.length === 0 ? words.noneShown : words.someShown(shown.length)}
        </p>
      )}
      <DataTable
        label={words.title}
        rows={ordered}
        keyOf={({ campaignId }) => campaignId}
        columns={[
          {
            title: words.campaign,
            cell: ({ campaignId, name }) => (
              <Link to="/campaigns/$campaignId" params={{ campaignId }} className="row-link">
                {name}
              </Link>
            ),
          },
          { title: words.priority, cell: ({ priority }) => priorities[priority] },
          {
            title: words.outcome,
            cell: (campaign) => <Outcome campaign={campaign} isBlocked={blocked !== undefined} />,
          },
        ]}
      />
    </>
  );
}

interface OutcomeProps {
  campaign: Explained;
  isBlocked: boolean;
}

function Outcome({ campaign: { exclusionReason, likelihood, behindPlan, missingFiles }, isBlocked }: OutcomeProps) {
  const words = useWords(explainWords);
  const reasons = reasonWords[useLanguage()];
  const { share, number } = useFormats();
  return (
    <span>
      {exclusionReason !== undefined && <span className="pill pill-late">{reasons[exclusionReason]}</span>}
      {exclusionReason === undefined && likelihood > 0 && (
        <span className="pill pill-good">{words.chance(share(likelihood))}</span>
      )}
      {exclusionReason === undefined && likelihood === 0 && (
        <span className="pill">{isBlocked ? words.wouldFit : words.othersFirst}</span>
      )}
      {behindPlan !== undefined && behindPlan >= 1 && <small> {words.behind(number(Math.round(behindPlan)))}</small>}
      {missingFiles !== undefined && missingFiles.length > 0 && (
        <small className="fault">
          {" "}
          {words.missing} {missingFiles.join(", ")}
        </small>
      )}
    </span>
  );
}

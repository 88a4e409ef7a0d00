import { taskState } from "@intermission/ad-core/event-words";
import { taskRoutes } from "@intermission/operator-api/tasks";
import { getRouteApi } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { callOperator } from "../operator/call-operator.ts";
import { usePages } from "../operator/use-pages.ts";
import { BotPicker } from "../session/bot-picker.tsx";
import { CampaignPicker } from "../session/campaign-picker.tsx";
import { useMay, usePerson } from "../session/use-session.ts";
import { AnswerView, AsOf, EmptyState, ShowAll } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { FilterSelect } from "../ui/filter-select.tsx";
import { Page } from "../ui/page.tsx";
import { useLanguage, useWords } from "../words/word-table.ts";
import { Channels } from "./channels.tsx";
import { TaskBots } from "./task-bots.tsx";
import { TaskSums } from "./task-sums.tsx";
import { TaskTable } from "./task-table.tsx";
import { taskStateWords, taskWords } from "./words.ts";

/** Loaded when it is opened. */
const AddChannelDialog = lazy(async () => ({ default: (await import("./add-channel-dialog.tsx")).AddChannelDialog }));

const AddTaskBotDialog = lazy(async () => ({ default: (await import("./add-task-bot-dialog.tsx")).AddTaskBotDialog }));

const route = getRouteApi("/shell/tasks");
type Search = ReturnType<typeof route.useSearch>;

/** Channels of tasks, the tasks' outcomes, and each task with its proof. */
export function TasksScreen() {
  const words = useWords(taskWords);
  const search = route.useSearch();
  const may = useMay();
  const { advertiserId, botIds } = usePerson();
  const [added, setAdded] = useState<"channel" | "bot">();
  // A publisher sees one bot at a time.
  const botId = search.bot ?? (may("listTaskChannels") ? undefined : botIds[0]);
  const of = { botId, campaignId: search.campaign, advertiser: advertiserId ?? undefined };
  const { state } = search;
  const list = usePages(["tasks", of, state], (after, signal) =>
    callOperator(taskRoutes.listTasks, { query: { ...of, state, after } }, signal),
  );
  const rows = list.data?.pages.flatMap(({ tasks }) => tasks) ?? [];
  const isFiltered = [search.bot, search.campaign, state].some((value) => value !== undefined);
  return (
    <Page
      title={words.title}
      aside={
        <>
          {list.data && <AsOf at={list.dataUpdatedAt} />}
          {may("addTaskBot") && <Button onClick={() => setAdded("bot")}>{words.addTaskBot}</Button>}
          {may("addTaskChannel") && (
            <Button look="primary" onClick={() => setAdded("channel")}>
              {words.addChannel}
            </Button>
          )}
        </>
      }
    >
      <div className="stack">
        {may("setTaskUpdates") && <TaskBots />}
        {may("listTaskChannels") && <Channels advertiser={of.advertiser} />}
        <Filters search={search} botId={botId} />
        <TaskSums of={of} />
        <AnswerView query={list}>
          {() => (
            <section className="stack" aria-labelledby="joins">
              <h2 id="joins">{words.joins}</h2>
              <TaskTable
                rows={rows}
                pages={list}
                empty={
                  <EmptyState action={isFiltered && <ShowAll />}>{isFiltered ? words.noMatch : words.none}</EmptyState>
                }
              />
            </section>
          )}
        </AnswerView>
      </div>
      <Suspense>
        {added === "channel" && <AddChannelDialog onClose={() => setAdded(undefined)} />}
        {added === "bot" && <AddTaskBotDialog onClose={() => setAdded(undefined)} />}
      </Suspense>
    </Page>
  );
}

function Filters({ search, botId }: { search: Search; botId: string | undefined }) {
  const words = useWords(taskWords);
  const states = taskStateWords[useLanguage()];
  const navigate = route.useNavigate();
  const may = useMay();
  const filter = (changes: Partial<Search>) => void navigate({ search: { ...search, ...changes }, replace: true });
  return (
    <div className="list-head">
      {may("showBot") && (
        <BotPicker label={words.bot} value={botId} all={words.allBots} onChange={(bot) => filter({ bot })} />
      )}
      {may("listCampaigns") && (
        <CampaignPicker
          label={words.campaign}
          value={search.campaign}
          all={words.allCampaigns}
          onChange={(campaign) => filter({ campaign })}
        />
      )}
      <FilterSelect
        label={words.state}
        value={search.state}
        all={words.allStates}
        options={taskState.options.map((value) => ({ value, text: states[value] }))}
        onChange={(state) => filter({ state })}
      />
    </div>
  );
}

import { taskRoutes } from "@intermission/operator-api/tasks";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { RequestDialog } from "../forms/request-dialog.tsx";
import { useWholeList, wholeListOf } from "../operator/use-operator.ts";
import { AdvertiserPicker } from "../session/advertiser-picker.tsx";
import { useMay, usePerson } from "../session/use-session.ts";
import { AnswerView } from "../ui/answer-view.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useWords } from "../words/word-table.ts";
import { type Channel, CheckButton, RightsPill } from "./channel-rights.tsx";
import { channelForm, newChannel } from "./task-forms.ts";
import { taskWords } from "./words.ts";
import "./tasks.css";

const LIVE_MS = 3000;

/** Explains the steps in Telegram, adds the channel, and shows the task bot's rights until they are complete. */
export function AddChannelDialog({ onClose }: { onClose: () => void }) {
  const words = useWords(taskWords);
  const bots = useWholeList(taskRoutes.listTaskBots);
  const [added, setAdded] = useState<Channel>();
  if (added) return <AddedChannel channel={added} onClose={onClose} />;
  return (
    <AnswerView query={bots}>
      {({ taskBots }) => {
        const [first] = taskBots;
        if (first) return <ChannelForm taskBots={[first, ...taskBots.slice(1)]} onAdded={setAdded} onClose={onClose} />;
        return (
          <Dialog title={words.addChannel} onClose={onClose}>
            <p>{words.noTaskBot}</p>
          </Dialog>
        );
      }}
    </AnswerView>
  );
}

interface TaskBot {
  taskBotId: string;
  username: string;
}

interface ChannelFormProps {
  taskBots: readonly [TaskBot, ...TaskBot[]];
  onAdded: (channel: Channel) => void;
  onClose: () => void;
}

function ChannelForm({ taskBots, onAdded, onClose }: ChannelFormProps) {
  const words = useWords(taskWords);
  const may = useMay();
  const { advertiserId } = usePerson();
  const [taskBotId, setTaskBotId] = useState(taskBots[0].taskBotId);
  const [advertiser, setAdvertiser] = useState(advertiserId ?? undefined);
  const add = useConfirmedChange(taskRoutes.addTaskChannel);
  const { username } = taskBots.find((bot) => bot.taskBotId === taskBotId) ?? taskBots[0];
  return (
    <RequestDialog
      title={words.addChannel}
      submitText={words.checkAndAdd}
      definition={channelForm}
      initial={newChannel}
      schema={taskRoutes.addTaskChannel.body}
      wordsOf={() => words.form}
      request={add}
      onBody={(body) => add.run({ params: { taskBotId }, query: { advertiser }, body }, onAdded)}
      onClose={onClose}
    >
      {taskBots.length > 1 && (
        <label className="filter">
          {words.taskBot}
          <select value={taskBotId} onChange={({ target }) => setTaskBotId(target.value)}>
            {taskBots.map((bot) => (
              <option key={bot.taskBotId} value={bot.taskBotId}>
                @{bot.username}
              </option>
            ))}
          </select>
        </label>
      )}
      <ol className="channel-steps">
        <li>{words.stepOpen}</li>
        <li>{words.stepAdmin(username)}</li>
        <li>{words.stepRight}</li>
        <li>{words.stepName}</li>
      </ol>
      {may("listAdvertisers") && (
        <AdvertiserPicker
          isId
          label={words.advertiser}
          value={advertiser}
          all={words.operators}
          onChange={setAdvertiser}
        />
      )}
    </RequestDialog>
  );
}

/** Telegram reports changed rights to the task bot, so the state updates without a click. */
function AddedChannel({ channel, onClose }: { channel: Channel; onClose: () => void }) {
  const words = useWords(taskWords);
  const advertiser = usePerson().advertiserId ?? undefined;
  const { data } = useQuery({
    ...wholeListOf(taskRoutes.listTaskChannels, { query: { advertiser } }),
    refetchInterval: LIVE_MS,
  });
  const now = data?.channels.find(({ chatId }) => chatId === channel.chatId) ?? channel;
  return (
    <Dialog title={now.title} onClose={onClose}>
      <div className="stack" role="status">
        <p>
          <RightsPill rights={now.rights} />
        </p>
        <p>{words.afterAdding[now.rights]}</p>
        {now.rights !== "ready" && <CheckButton channel={now} advertiser={advertiser} />}
      </div>
    </Dialog>
  );
}

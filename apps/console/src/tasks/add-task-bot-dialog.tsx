import { taskRoutes } from "@intermission/operator-api/tasks";
import { RequestDialog } from "../forms/request-dialog.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useWords } from "../words/word-table.ts";
import { newTaskBot, taskBotForm } from "./task-forms.ts";
import { taskWords } from "./words.ts";

/** The server reads the bot's name from Telegram by the token. */
export function AddTaskBotDialog({ onClose }: { onClose: () => void }) {
  const words = useWords(taskWords);
  const notice = useNotice();
  // The cache drops the token when the answer arrives.
  const add = useConfirmedChange(taskRoutes.addTaskBot, undefined, { gcTime: 0 });
  return (
    <RequestDialog
      title={words.addTaskBot}
      submitText={words.addIt}
      definition={taskBotForm}
      initial={newTaskBot}
      schema={taskRoutes.addTaskBot.body}
      wordsOf={() => words.botForm}
      request={add}
      onBody={(body) =>
        add.run({ body }, ({ username }) => {
          onClose();
          notice({ text: words.taskBotAdded(username) });
        })
      }
      onClose={onClose}
    >
      <p>{words.taskBotText}</p>
    </RequestDialog>
  );
}

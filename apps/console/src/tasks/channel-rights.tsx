import type { AnswerOf } from "@intermission/operator-api/route";
import { taskRoutes } from "@intermission/operator-api/tasks";
import { useMay } from "../session/use-session.ts";
import { Button } from "../ui/button.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useLanguage, useWords } from "../words/word-table.ts";
import { channelRightsWords, taskWords } from "./words.ts";

export type Channel = AnswerOf<typeof taskRoutes.listTaskChannels>["channels"][number];

export function RightsPill({ rights }: Pick<Channel, "rights">) {
  const look = { ready: "pill-good", "not-admin": "pill-bad", "cannot-invite": "pill-bad", unknown: "pill-late" };
  return <span className={`pill ${look[rights]}`}>{channelRightsWords[useLanguage()][rights]}</span>;
}

/** Reads the rights from Telegram now. */
export function CheckButton({
  channel: { chatId, title },
  advertiser,
}: {
  channel: Pick<Channel, "chatId" | "title">;
  advertiser: string | undefined;
}) {
  const words = useWords(taskWords);
  const may = useMay();
  const check = useConfirmedChange(taskRoutes.checkTaskChannel);
  if (!may("checkTaskChannel")) return null;
  return (
    <Button
      look="quiet"
      isBusy={check.isPending}
      aria-label={words.checkOf(title)}
      onClick={() => void check.run({ params: { chatId }, query: { advertiser } })}
    >
      {words.check}
    </Button>
  );
}

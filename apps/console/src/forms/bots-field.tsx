import { botRoutes } from "@intermission/operator-api/bots";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { answerOf } from "../operator/use-operator.ts";
import { BotName } from "../session/bot-picker.tsx";
import { usePaused } from "../ui/use-paused.ts";
import { useWords } from "../words/word-table.ts";
import type { ControlProps } from "./checks-box.tsx";
import { PickList } from "./pick-list.tsx";
import { formWords } from "./words.ts";

/** So many of what is found are shown. */
const MAX_FOUND = 8;

/** Bots, by name or id: few are shown at once, of many those that the server finds. */
export function BotsField(shown: ControlProps) {
  const words = useWords(formWords);
  const [text, setText] = useState("");
  const find = usePaused(text.trim());
  const { data, isPlaceholderData } = useQuery({
    ...answerOf(botRoutes.listBots, { query: { find: find || undefined, sort: "name", limit: MAX_FOUND } }),
    placeholderData: keepPreviousData,
  });
  const isOffered = find !== "" || data?.next === null;
  const found = isOffered ? data?.bots.map(({ botId, name }) => ({ value: botId, text: `${name} (${botId})` })) : [];
  const status = found?.length === 0 ? words.noneFound : data?.next ? words.moreFound : undefined;
  return (
    <PickList
      {...shown}
      text={text}
      onText={setText}
      found={found}
      isOfText={find === text.trim() && !isPlaceholderData}
      nameOf={(botId) => <BotName botId={botId} />}
      status={find === "" ? undefined : status}
    />
  );
}

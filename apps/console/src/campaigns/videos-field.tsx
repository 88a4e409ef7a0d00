import { creativeRoutes } from "@intermission/operator-api/creatives";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ControlProps } from "../forms/checks-box.tsx";
import { PickList } from "../forms/pick-list.tsx";
import { formWords } from "../forms/words.ts";
import { answerOf, useAnswer } from "../operator/use-operator.ts";
import { usePerson } from "../session/use-session.ts";
import { usePaused } from "../ui/use-paused.ts";
import { useWords } from "../words/word-table.ts";
import { campaignWords } from "./words.ts";

const MAX_SHOWN = 20;

/** The videos of a new campaign: the latest ones, or those that the server finds, and always the chosen ones. */
export function VideosField(shown: ControlProps) {
  const { moreVideos } = useWords(campaignWords);
  const { noneFound } = useWords(formWords);
  const [text, setText] = useState("");
  const find = usePaused(text.trim());
  const { advertiserId } = usePerson();
  const query = { find: find || undefined, limit: MAX_SHOWN, advertiser: advertiserId ?? undefined };
  const { data, isPlaceholderData } = useQuery({
    ...answerOf(creativeRoutes.listCreatives, { query }),
    placeholderData: keepPreviousData,
  });
  const found = data?.creatives.map(({ creativeId, name }) => ({ value: creativeId, text: name ?? creativeId }));
  return (
    <PickList
      {...shown}
      text={text}
      onText={setText}
      found={found}
      isOfText={find === text.trim() && !isPlaceholderData}
      nameOf={(creativeId) => <VideoName creativeId={creativeId} />}
      status={found?.length === 0 ? noneFound : data?.next ? moreVideos : undefined}
    />
  );
}

/** Of a chosen one that is not among those found, as of a draft. */
function VideoName({ creativeId }: { creativeId: string }) {
  const { data } = useAnswer(creativeRoutes.showCreative, { params: { creativeId } });
  return data?.name ?? creativeId;
}

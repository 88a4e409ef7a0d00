import { creativeRoutes } from "@intermission/operator-api/creatives";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import { type Control, useController } from "react-hook-form";
import { answerOf, useAnswer } from "../operator/use-operator.ts";
import { usePaused } from "../ui/use-paused.ts";
import { useWords } from "../words/word-table.ts";
import type { CampaignFormValues } from "./campaign-form-values.ts";
import { campaignWords } from "./words.ts";

const MAX_SHOWN = 20;

interface VideosFieldProps {
  control: Control<CampaignFormValues>;
  fault: string | undefined;
}

/** The videos of a new campaign: the latest ones, or those that the server finds, and always the chosen ones. */
export function VideosField({ control, fault }: VideosFieldProps) {
  const words = useWords(campaignWords);
  const id = useId();
  const { field } = useController({ control, name: "creativeIds" });
  const [text, setText] = useState("");
  const find = usePaused(text.trim());
  const { data } = useQuery({
    ...answerOf(creativeRoutes.listCreatives, { query: { find: find || undefined, limit: MAX_SHOWN } }),
    placeholderData: keepPreviousData,
  });
  const found = data?.creatives ?? [];
  const chosen = field.value;
  const others = data === undefined ? [] : chosen.filter((one) => !found.some(({ creativeId }) => creativeId === one));
  const choose = (creativeId: string, isChosen: boolean) =>
    field.onChange(isChosen ? [...chosen, creativeId] : chosen.filter((one) => one !== creativeId));
  const choiceOf = (creativeId: string) => ({
    isChosen: chosen.includes(creativeId),
    onChoose: (isChosen: boolean) => choose(creativeId, isChosen),
  });
  return (
    <fieldset className="choices" aria-describedby={`${id}-hint ${id}-fault`}>
      <legend>{words.videos}</legend>
      <input
        type="search"
        ref={field.ref}
        aria-label={words.findVideo}
        placeholder={words.findVideo}
        maxLength={128}
        value={text}
        onChange={(event) => setText(event.target.value)}
        // It searches by itself; the form is not meant.
        onKeyDown={(event) => event.key === "Enter" && event.preventDefault()}
      />
      {others.map((creativeId) => (
        <OtherVideo key={creativeId} creativeId={creativeId} {...choiceOf(creativeId)} />
      ))}
      {found.map(({ creativeId, name }) => (
        <Video key={creativeId} name={name ?? creativeId} {...choiceOf(creativeId)} />
      ))}
      <p className="hint" role="status">
        {data?.creatives.length === 0 && words.noVideoFound}
        {data?.next && words.moreVideos}
      </p>
      <p className="hint" id={`${id}-hint`}>
        {words.videosHint}
      </p>
      <p className="fault" id={`${id}-fault`} role="alert">
        {fault}
      </p>
    </fieldset>
  );
}

interface VideoProps {
  name: string;
  isChosen: boolean;
  onChoose: (isChosen: boolean) => void;
}

function Video({ name, isChosen, onChoose }: VideoProps) {
  return (
    <label>
      <input type="checkbox" checked={isChosen} onChange={(event) => onChoose(event.target.checked)} />
      {name}
    </label>
  );
}

/** A chosen one that is not among those found, as of a draft. */
function OtherVideo({ creativeId, ...choice }: Omit<VideoProps, "name"> & { creativeId: string }) {
  const { data } = useAnswer(creativeRoutes.showCreative, { params: { creativeId } });
  return <Video name={data?.name ?? creativeId} {...choice} />;
}

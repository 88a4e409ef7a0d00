import { creativeRoutes } from "@intermission/operator-api/creatives";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Command } from "cmdk";
import { answerOf } from "../operator/use-operator.ts";
import { usePerson } from "../session/use-session.ts";
import { usePaused } from "../ui/use-paused.ts";
import { useWords } from "../words/word-table.ts";
import { FinderItem, Named } from "./finder-item.tsx";
import { finderWords } from "./words.ts";

const MAX_SHOWN = 20;

/** The latest creatives that match, of all advertisers or of the own one: there may be more than the finder could hold. */
export function FoundCreatives({ text }: { text: string }) {
  const words = useWords(finderWords);
  const navigate = useNavigate();
  const { advertiserId } = usePerson();
  const find = usePaused(text.slice(0, 128));
  const { data } = useQuery({
    ...answerOf(creativeRoutes.listCreatives, {
      query: { advertiser: advertiserId ?? undefined, find: find || undefined, limit: MAX_SHOWN },
    }),
    placeholderData: keepPreviousData,
  });
  return (
    <Command.Group heading={words.creatives}>
      {data?.creatives.map(({ creativeId, name }) => (
        <FinderItem
          key={creativeId}
          id={creativeId}
          keywords={[name]}
          onOpen={() => navigate({ to: "/creatives/$creativeId", params: { creativeId } })}
        >
          <Named name={name ?? creativeId} id={creativeId} />
        </FinderItem>
      ))}
    </Command.Group>
  );
}

import type { Creative } from "@intermission/operator-api/creatives";
import { usePerson } from "../session/use-session.ts";
import { useNotice } from "../ui/notices.tsx";
import { useWords } from "../words/word-table.ts";
import { creativeWords } from "./words.ts";

/** Says that a creative was changed, and that its advertiser's change waits for approval. */
export function useChangedNotice(): (changed: Creative) => void {
  const words = useWords(creativeWords);
  const notice = useNotice();
  const { advertiserId } = usePerson();
  return ({ review }) =>
    notice({ text: advertiserId !== null && review === "waiting" ? words.changedAndWaits : words.changed });
}

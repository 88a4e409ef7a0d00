import { creativeRoutes } from "@intermission/operator-api/creatives";
import { useNavigate } from "@tanstack/react-router";
import { Command } from "cmdk";
import { useAnswer } from "../operator/use-operator.ts";
import { usePerson } from "../session/use-session.ts";
import { useWords } from "../words/word-table.ts";
import { FinderItem, Named } from "./finder-item.tsx";
import { finderWords } from "./words.ts";

/** The latest thousand, of all advertisers or of the own one. */
export function FoundCreatives() {
  const words = useWords(finderWords);
  const navigate = useNavigate();
  const { advertiser } = usePerson();
  const { data } = useAnswer(creativeRoutes.listCreatives, { query: { advertiser: advertiser ?? undefined } });
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

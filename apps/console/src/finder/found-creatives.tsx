import { creativeRoutes } from "@intermission/operator-api/creatives";
import { useNavigate } from "@tanstack/react-router";
import { Command } from "cmdk";
import { callOperator } from "../operator/call-operator.ts";
import { usePerson } from "../session/use-session.ts";
import { useWords } from "../words/word-table.ts";
import { FinderItem, Named } from "./finder-item.tsx";
import { MAX_FOUND, useFound } from "./use-found.ts";
import { finderWords } from "./words.ts";

/** The latest creatives that match, of all advertisers or of the own one. */
export function FoundCreatives({ text }: { text: string }) {
  const words = useWords(finderWords);
  const navigate = useNavigate();
  const { advertiserId } = usePerson();
  const creatives = useFound("creatives", text, async (find, signal) => {
    const query = { advertiser: advertiserId ?? undefined, find, limit: MAX_FOUND };
    return (await callOperator(creativeRoutes.listCreatives, { query }, signal)).creatives;
  });
  return (
    <Command.Group heading={words.creatives}>
      {creatives.map(({ creativeId, name }) => (
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

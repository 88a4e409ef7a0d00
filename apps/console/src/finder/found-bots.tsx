import { botRoutes } from "@intermission/operator-api/bots";
import { useNavigate } from "@tanstack/react-router";
import { Command } from "cmdk";
import { callOperator } from "../operator/call-operator.ts";
import { useMay, usePerson } from "../session/use-session.ts";
import { useWords } from "../words/word-table.ts";
import { FinderItem, Named } from "./finder-item.tsx";
import { MAX_FOUND, objectOf, useFound } from "./use-found.ts";
import { finderWords } from "./words.ts";

/** The bots of all publishers that the server finds, or the own ones, which the finder filters. */
function useBots(text: string) {
  const { botIds } = usePerson();
  const may = useMay();
  return useFound("bots", text, async (find, signal) => {
    if (!may("listBots"))
      return Promise.all(botIds.map((botId) => callOperator(botRoutes.showBot, { params: { botId } }, signal)));
    return (await callOperator(botRoutes.listBots, { query: { find, limit: MAX_FOUND } }, signal)).bots;
  });
}

export function FoundBots({ text }: { text: string }) {
  const words = useWords(finderWords);
  const navigate = useNavigate();
  const bots = useBots(text);
  return (
    <Command.Group heading={words.bots}>
      {bots.map(({ botId, name, username }) => (
        <FinderItem
          key={botId}
          id={`bot ${botId}`}
          keywords={[name, username]}
          onOpen={() => navigate({ to: "/bots/$botId", params: { botId } })}
        >
          <Named name={name} id={botId} />
        </FinderItem>
      ))}
    </Command.Group>
  );
}

export function BotActions({ text }: { text: string }) {
  const words = useWords(finderWords);
  const navigate = useNavigate();
  const bots = useBots(objectOf(text, words.whyNoAd("")));
  return bots.map(({ botId, name }) => (
    <FinderItem
      key={botId}
      id={`explain ${botId}`}
      keywords={[words.whyNoAd(name)]}
      onOpen={() => navigate({ to: "/explain", search: { bot: botId } })}
    >
      {words.whyNoAd(name)}
    </FinderItem>
  ));
}

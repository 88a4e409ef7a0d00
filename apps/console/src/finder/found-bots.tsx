import { useNavigate } from "@tanstack/react-router";
import { Command } from "cmdk";
import { useBots } from "../session/use-bots.ts";
import { useWords } from "../words/word-table.ts";
import { FinderItem, Named } from "./finder-item.tsx";
import { finderWords } from "./words.ts";

export function FoundBots() {
  const words = useWords(finderWords);
  const navigate = useNavigate();
  const bots = useBots().data ?? [];
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

export function BotActions() {
  const words = useWords(finderWords);
  const navigate = useNavigate();
  const bots = useBots().data ?? [];
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

import { useNavigate } from "@tanstack/react-router";
import { Command } from "cmdk";
import { useStatusChanges } from "../campaigns/use-status-changes.ts";
import { useCampaigns } from "../session/use-campaigns.ts";
import { useWords } from "../words/word-table.ts";
import { FinderItem, Named } from "./finder-item.tsx";
import { finderWords } from "./words.ts";

export function FoundCampaigns() {
  const words = useWords(finderWords);
  const navigate = useNavigate();
  const campaigns = useCampaigns({ archived: false }).data?.campaigns ?? [];
  return (
    <Command.Group heading={words.campaigns}>
      {campaigns.map(({ campaignId, name, advertiser }) => (
        <FinderItem
          key={campaignId}
          id={campaignId}
          keywords={[name, advertiser]}
          onOpen={() => navigate({ to: "/campaigns/$campaignId", params: { campaignId } })}
        >
          <Named name={name} id={advertiser} />
        </FinderItem>
      ))}
    </Command.Group>
  );
}

export function CampaignActions() {
  const words = useWords(finderWords);
  const { pause } = useStatusChanges();
  const campaigns = useCampaigns({ archived: false }).data?.campaigns ?? [];
  const active = Map.groupBy(
    campaigns.filter(({ status }) => status === "active"),
    ({ advertiser }) => advertiser,
  );
  return [...active].map(([advertiser, ofAdvertiser]) => (
    <FinderItem
      key={advertiser}
      id={`pause ${advertiser}`}
      keywords={[words.pauseAll(advertiser)]}
      onOpen={() => pause(ofAdvertiser)}
    >
      {words.pauseAll(advertiser)}
    </FinderItem>
  ));
}

import { campaignRoutes } from "@intermission/operator-api/campaigns";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Command } from "cmdk";
import { useStatusChanges } from "../campaigns/use-status-changes.ts";
import { callOperator } from "../operator/call-operator.ts";
import { wholeListOf } from "../operator/use-operator.ts";
import { usePerson } from "../session/use-session.ts";
import { useWords } from "../words/word-table.ts";
import { FinderItem, Named } from "./finder-item.tsx";
import { MAX_FOUND, objectOf, useFound } from "./use-found.ts";
import { finderWords } from "./words.ts";

/** The latest campaigns that match, of all advertisers or of the own one. */
function useCampaigns(text: string) {
  const { advertiserId } = usePerson();
  return useFound("campaigns", text, async (find, signal) => {
    const query = { advertiser: advertiserId ?? undefined, find, order: "newest", limit: MAX_FOUND } as const;
    return (await callOperator(campaignRoutes.listCampaigns, { query }, signal)).campaigns;
  });
}

export function FoundCampaigns({ text }: { text: string }) {
  const words = useWords(finderWords);
  const navigate = useNavigate();
  return (
    <Command.Group heading={words.campaigns}>
      {useCampaigns(text).map(({ campaignId, name, advertiser }) => (
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

/** Pauses all active campaigns of an advertiser: of those to which the found campaigns belong. */
export function CampaignActions({ text }: { text: string }) {
  const words = useWords(finderWords);
  const queries = useQueryClient();
  const { pause } = useStatusChanges();
  const active = useCampaigns(objectOf(text, words.pauseAll(""))).filter(({ status }) => status === "active");
  const advertisers = new Map(active.map(({ advertiserId, advertiser }) => [advertiserId, advertiser]));
  const pauseAll = async (advertiser: string) => {
    const query = { advertiser, status: "active" } as const;
    await pause((await queries.fetchQuery(wholeListOf(campaignRoutes.listCampaigns, { query }))).campaigns);
  };
  return [...advertisers].map(([advertiserId, advertiser]) => (
    <FinderItem
      key={advertiserId}
      id={`pause ${advertiser}`}
      keywords={[words.pauseAll(advertiser)]}
      onOpen={() => pauseAll(advertiserId)}
    >
      {words.pauseAll(advertiser)}
    </FinderItem>
  ));
}

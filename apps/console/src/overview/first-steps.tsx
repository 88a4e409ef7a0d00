import { botRoutes } from "@intermission/operator-api/bots";
import { campaignRoutes } from "@intermission/operator-api/campaigns";
import { creativeRoutes } from "@intermission/operator-api/creatives";
import { deliveryRoutes } from "@intermission/operator-api/deliveries";
import { endpointRoutes } from "@intermission/operator-api/endpoints";
import { peopleRoutes } from "@intermission/operator-api/people";
import { useQuery } from "@tanstack/react-query";
import { Link, type LinkProps } from "@tanstack/react-router";
import { useEffect } from "react";
import { answerOf } from "../operator/use-operator.ts";
import { useMay } from "../session/use-session.ts";
import { Checklist } from "../ui/checklist.tsx";
import { useWords } from "../words/word-table.ts";
import { firstStepsWords } from "./first-steps-words.ts";

/** A step may be done by the bot's program, or in another window. */
const LIVE_MS = 5000;
/** Tests of webhooks are among them. */
const LATEST = 50;
/** Whom tests of webhooks are about. */
const NOBODY = "0";

interface FirstStep {
  name: "bot" | "video" | "campaign" | "reward" | "person";
  isDone: boolean;
  /** Where it is done, once there is such a place. */
  link: Pick<LinkProps, "to" | "params"> | undefined;
}

/** Whether the first steps are shown, and whether a campaign is one that is open; null: that is not known yet. */
export type FirstStepsShown = { isOpen: boolean; needsCampaign: boolean } | null;

/**
 * The first steps of a new deployment, each with a link to where it is done; nothing once all are done, or users earn. Whether
 * there is one of a kind is read, and no list.
 */
export function FirstSteps({ onShown }: { onShown: (shown: FirstStepsShown) => void }) {
  const words = useWords(firstStepsWords);
  const { steps, isLoading } = useFirstSteps();
  const isOpen = steps.some(({ isDone }) => !isDone);
  const needsCampaign = steps.some(({ name, isDone }) => name === "campaign" && !isDone);
  useEffect(() => onShown(isLoading ? null : { isOpen, needsCampaign }), [isLoading, isOpen, needsCampaign, onShown]);
  if (!isOpen) return null;
  return (
    <Checklist
      title={words.title}
      steps={steps.map(({ name, isDone, link }) => {
        const text = words[name];
        return { key: name, isDone, text: isDone || link === undefined ? text : <Link {...link}>{text}</Link> };
      })}
    />
  );
}

function useFirstSteps(): { steps: readonly FirstStep[]; isLoading: boolean } {
  const may = useMay();
  const live = { refetchInterval: LIVE_MS };
  const delivered = useQuery({
    ...answerOf(deliveryRoutes.listDeliveries, { query: { state: "delivered", limit: LATEST } }),
    ...live,
    select: ({ deliveries }) => ({
      toUser: deliveries.some(({ userId }) => userId !== NOBODY),
      real: deliveries.some(({ isTest }) => !isTest),
    }),
  });
  const isNew = delivered.data?.real === false;
  const whileNew = { ...live, enabled: isNew };
  const bot = useQuery({ ...answerOf(botRoutes.listBots, { query: { limit: 1 } }), ...whileNew });
  const tested = useQuery({
    ...answerOf(endpointRoutes.listEndpoints, { query: { state: "active", limit: 1 } }),
    ...whileNew,
  });
  const video = useQuery({ ...answerOf(creativeRoutes.listCreatives, { query: { limit: 1 } }), ...whileNew });
  const campaign = useQuery({ ...answerOf(campaignRoutes.listCampaigns, { query: { limit: 1 } }), ...whileNew });
  const mayInvite = may("invitePerson");
  const people = useQuery({
    ...answerOf(peopleRoutes.listPeople, { query: { limit: 2 } }),
    ...whileNew,
    enabled: isNew && mayInvite,
  });
  const queries = [delivered, bot, tested, video, campaign, people];
  const isLoading = queries.some((query) => query.isLoading);
  if (!isNew || !bot.data || !tested.data || !video.data || !campaign.data) return { steps: [], isLoading };
  const [first] = bot.data.bots;
  const botLink = first && ({ to: "/bots/$botId", params: { botId: first.botId } } as const);
  const steps: FirstStep[] = [
    { name: "bot", isDone: tested.data.endpoints.length > 0, link: botLink ?? { to: "/bots/new" } },
    { name: "video", isDone: video.data.creatives.length > 0, link: { to: "/creatives" } },
    { name: "campaign", isDone: campaign.data.campaigns.length > 0, link: { to: "/campaigns/new" } },
    { name: "reward", isDone: delivered.data?.toUser === true, link: botLink },
  ];
  if (people.data) steps.push({ name: "person", isDone: people.data.people.length > 1, link: { to: "/people" } });
  return { steps, isLoading };
}

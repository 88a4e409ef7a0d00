import { isCode } from "@intermission/ad-core/code";
import { deliveryRoutes } from "@intermission/operator-api/deliveries";
import { useNavigate } from "@tanstack/react-router";
import { Command } from "cmdk";
import { type ReactNode, useState } from "react";
import { useBots } from "../bots/use-bots.ts";
import { useCampaigns } from "../campaigns/use-campaigns.ts";
import { useStatusChanges } from "../campaigns/use-status-changes.ts";
import { callOperator } from "../operator/call-operator.ts";
import { useMay } from "../session/use-session.ts";
import { sections } from "../shell/sections.ts";
import { shellWords } from "../shell/words.ts";
import { Dialog } from "../ui/dialog.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useWords } from "../words/word-table.ts";
import { finderWords } from "./words.ts";
import "./finder.css";

/** How an id of an event begins, and how long it is at least. */
const eventId = /^evt_[\w-]{8,60}$/;
/** What may be the id of a user, a view, a click or an event. */
const anyId = /^(?=\D*\d)[\w-]{3,64}$/;
/** One code of fifteen has no digit. */
const mayBeId = (text: string) => anyId.test(text) || isCode(text);

/** Finds pages, bots, campaigns and webhooks by name or id, and what can be done with them: typing, arrows, Enter. */
export function Finder({ onClose }: { onClose: () => void }) {
  const words = useWords(finderWords);
  const [text, setText] = useState("");
  return (
    <Dialog title={words.find} onClose={onClose} place="top">
      <Command label={words.find} className="finder" filter={matches}>
        <Command.Input value={text} onValueChange={setText} placeholder={words.placeholder} />
        <Command.List label={words.find}>
          <Command.Empty>{words.nothing}</Command.Empty>
          <Found text={text.trim()} onClose={onClose} />
        </Command.List>
      </Command>
    </Dialog>
  );
}

function Found({ text, onClose }: { text: string; onClose: () => void }) {
  const words = useWords(finderWords);
  const names = useWords(shellWords);
  const may = useMay();
  const navigate = useNavigate();
  const openDelivery = useOpenDelivery(text);
  const bots = useBots().data ?? [];
  const campaigns = useCampaigns({ archived: false }).data?.campaigns ?? [];
  const { pause } = useStatusChanges();
  const active = campaigns.filter(({ status }) => status === "active");
  const advertisers = [...new Set(active.map(({ advertiser }) => advertiser))];
  const item = (key: string, label: ReactNode, onSelect: () => unknown, keywords: readonly (string | null)[] = []) => (
    <Command.Item
      key={key}
      value={key}
      keywords={keywords.filter((word) => word !== null)}
      onSelect={() => {
        onClose();
        void onSelect();
      }}
    >
      {label}
    </Command.Item>
  );
  return (
    <>
      {eventId.test(text) && may("showDelivery") && item(text, words.delivery(text), openDelivery)}
      <Command.Group heading={words.bots}>
        {bots.map(({ botId, name, username }) =>
          item(
            `bot ${botId}`,
            <Named name={name} id={botId} />,
            () => navigate({ to: "/bots/$botId", params: { botId } }),
            [name, username],
          ),
        )}
      </Command.Group>
      <Command.Group heading={words.campaigns}>
        {campaigns.map(({ campaignId, name, advertiser }) =>
          item(
            campaignId,
            <Named name={name} id={advertiser} />,
            () => navigate({ to: "/campaigns/$campaignId", params: { campaignId } }),
            [name, advertiser],
          ),
        )}
      </Command.Group>
      <Command.Group heading={words.actions}>
        {may("addCampaign") &&
          item("new-campaign", words.newCampaign, () => navigate({ to: "/campaigns/new" }), [words.newCampaign])}
        {may("explainChoice") &&
          bots.map(({ botId, name }) =>
            item(`explain ${botId}`, words.whyNoAd(name), () => navigate({ to: "/explain", search: { bot: botId } }), [
              words.whyNoAd(name),
            ]),
          )}
        {mayBeId(text) &&
          may("findTimelines") &&
          item(`timeline ${text}`, words.whatHappened(text), () =>
            navigate({ to: "/timeline", search: { find: text } }),
          )}
        {may("pauseCampaign") &&
          advertisers.map((advertiser) =>
            item(
              `pause ${advertiser}`,
              words.pauseAll(advertiser),
              () => pause(active.filter((campaign) => campaign.advertiser === advertiser)),
              [words.pauseAll(advertiser)],
            ),
          )}
      </Command.Group>
      <Command.Group heading={words.pages}>
        {sections
          .filter(({ needs }) => may(needs))
          .map(({ to, word }) => item(`page ${to}`, names[word], () => navigate({ to }), [names[word]]))}
      </Command.Group>
    </>
  );
}

/** Opens the delivery of an event on the page of its bot. */
function useOpenDelivery(event: string): () => Promise<void> {
  const words = useWords(finderWords);
  const notice = useNotice();
  const navigate = useNavigate();
  return async () => {
    try {
      const { botId } = await callOperator(deliveryRoutes.showDelivery, { params: { eventId: event } });
      await navigate({ to: "/bots/$botId", params: { botId }, search: { event } });
    } catch {
      notice({ text: words.noDelivery, look: "failed" });
    }
  };
}

/** Each word of the text stands in the name, the id or the action: letters that are far apart are no match. */
function matches(value: string, text: string, keywords: readonly string[] = []): number {
  const searched = [value, ...keywords].join(" ").toLowerCase();
  const words = text.toLowerCase().split(/\s+/);
  return words.every((word) => searched.includes(word)) ? 1 : 0;
}

function Named({ name, id }: { name: string; id: string }) {
  return (
    <>
      <span>{name}</span> <small>{id}</small>
    </>
  );
}

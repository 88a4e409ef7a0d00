import { isCode } from "@intermission/ad-core/code";
import { useNavigate } from "@tanstack/react-router";
import { Command } from "cmdk";
import { lazy, Suspense, useLayoutEffect, useRef } from "react";
import { callOperator } from "../operator/call-operator.ts";
import { useMay } from "../session/use-session.ts";
import type { FinderComponent } from "../shell/finder-dialog.tsx";
import { useSections } from "../shell/use-sections.ts";
import { shellWords } from "../shell/words.ts";
import { useNotice } from "../ui/notices.tsx";
import { useWords } from "../words/word-table.ts";
import { FinderContext, FinderItem } from "./finder-item.tsx";
import { finderWords } from "./words.ts";
import "./finder.css";

/** How an id of an event begins, and how long it is at least. */
const eventId = /^evt_[\w-]{8,60}$/;
/** What may be the id of a user, a view, a click or an event. */
const anyId = /^(?=\D*\d)[\w-]{3,64}$/;
/** One code of fifteen has no digit. */
const mayBeId = (text: string) => anyId.test(text) || isCode(text);

/** Finds pages, bots, campaigns, creatives and webhooks by name or id, and what can be done with them: typing, arrows, Enter. */
export const Finder: FinderComponent = ({ text, onText, onClose }) => {
  const words = useWords(finderWords);
  const { find } = useWords(shellWords);
  const field = useRef<HTMLInputElement>(null);
  // The caret goes behind what was typed while this was loaded.
  useLayoutEffect(() => {
    field.current?.focus();
    field.current?.setSelectionRange(-1, -1);
  }, []);
  return (
    <Command label={find} className="finder" filter={matches}>
      <Command.Input ref={field} value={text} onValueChange={onText} placeholder={words.placeholder} />
      <Command.List label={find}>
        {/* All at once: what appears first is chosen, and should be the first of the list. */}
        <Suspense fallback={null}>
          <Command.Empty>{words.nothing}</Command.Empty>
          <Found text={text.trim()} onClose={onClose} />
        </Suspense>
      </Command.List>
    </Command>
  );
};

/** Apart by kind, so that no file needs the routes of all kinds. */
const Bots = lazy(async () => ({ default: (await import("./found-bots.tsx")).FoundBots }));
const BotActions = lazy(async () => ({ default: (await import("./found-bots.tsx")).BotActions }));
const Campaigns = lazy(async () => ({ default: (await import("./found-campaigns.tsx")).FoundCampaigns }));
const CampaignActions = lazy(async () => ({ default: (await import("./found-campaigns.tsx")).CampaignActions }));
const Creatives = lazy(async () => ({ default: (await import("./found-creatives.tsx")).FoundCreatives }));

function Found({ text, onClose }: { text: string; onClose: () => void }) {
  const words = useWords(finderWords);
  const names = useWords(shellWords);
  const may = useMay();
  const navigate = useNavigate();
  const openDelivery = useOpenDelivery(text);
  return (
    <FinderContext value={onClose}>
      {eventId.test(text) && may("showDelivery") && (
        <FinderItem id={text} onOpen={openDelivery}>
          {words.delivery(text)}
        </FinderItem>
      )}
      <Bots text={text} />
      {may("listCampaigns") && <Campaigns text={text} />}
      {may("listCreatives") && <Creatives text={text} />}
      <Command.Group heading={words.actions}>
        {may("addCampaign") && (
          <FinderItem
            id="new-campaign"
            keywords={[words.newCampaign]}
            onOpen={() => navigate({ to: "/campaigns/new" })}
          >
            {words.newCampaign}
          </FinderItem>
        )}
        {may("explainChoice") && <BotActions text={text} />}
        {may("pauseCampaign") && <CampaignActions text={text} />}
        {mayBeId(text) && may("findTimelines") && (
          <FinderItem id={`timeline ${text}`} onOpen={() => navigate({ to: "/timeline", search: { find: text } })}>
            {words.whatHappened(text)}
          </FinderItem>
        )}
      </Command.Group>
      <Command.Group heading={words.pages}>
        {useSections().map(({ to, word }) => (
          <FinderItem key={to} id={`page ${to}`} keywords={[names[word]]} onOpen={() => navigate({ to })}>
            {names[word]}
          </FinderItem>
        ))}
      </Command.Group>
    </FinderContext>
  );
}

/** Opens the delivery of an event on the page of its bot. */
function useOpenDelivery(event: string): () => Promise<void> {
  const words = useWords(finderWords);
  const notice = useNotice();
  const navigate = useNavigate();
  return async () => {
    try {
      const { deliveryRoutes } = await import("@intermission/operator-api/deliveries");
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

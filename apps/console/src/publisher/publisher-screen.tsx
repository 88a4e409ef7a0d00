import { botRoutes } from "@intermission/operator-api/bots";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { answerOf } from "../operator/use-operator.ts";
import { BotPicker } from "../session/bot-picker.tsx";
import { BotSelect } from "../session/bot-select.tsx";
import { useOwnBots } from "../session/use-own-bots.ts";
import { useMay } from "../session/use-session.ts";
import { AnswerView, EmptyState } from "../ui/answer-view.tsx";
import { Page } from "../ui/page.tsx";
import { useWords } from "../words/word-table.ts";
import { PublisherChecklist } from "./checklist-panel.tsx";
import { Earnings } from "./earnings.tsx";
import { FailedWebhook } from "./failed-webhook.tsx";
import { publisherWords } from "./words.ts";
import "../bots/bots.css";
import "./publisher.css";

const route = getRouteApi("/shell/publisher");

/** A publisher's home: what is missing until a bot earns, what it earned, and why its webhooks fail. */
export function PublisherScreen() {
  const words = useWords(publisherWords);
  const may = useMay();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const isOfAll = may("listBots");
  const first = useQuery({
    ...answerOf(botRoutes.listBots, { query: { limit: 1 } }),
    enabled: isOfAll,
    select: ({ bots }) => bots,
  });
  const own = useOwnBots();
  const bots = isOfAll ? first : own;
  // An old link may name a bot that is no longer the person's.
  const named = isOfAll || own.data?.some((bot) => bot.botId === search.bot) ? search.bot : undefined;
  const botId = named ?? bots.data?.[0]?.botId;
  const choose = (bot: string | undefined) => void navigate({ search: { bot }, replace: true });
  return (
    <Page
      title={words.title}
      aside={
        isOfAll ? (
          <BotPicker label={words.bot} value={botId} all={words.bot} onChange={choose} />
        ) : (
          <BotSelect label={words.bot} value={botId} onChange={choose} />
        )
      }
    >
      <AnswerView query={bots} rows={6}>
        {() =>
          botId === undefined ? (
            <EmptyState>{words.noBot}</EmptyState>
          ) : (
            <div className="stack">
              {may("listDeliveries") && (
                <>
                  <PublisherChecklist botId={botId} />
                  <FailedWebhook botId={botId} />
                </>
              )}
              <Earnings botId={botId} />
            </div>
          )
        }
      </AnswerView>
    </Page>
  );
}

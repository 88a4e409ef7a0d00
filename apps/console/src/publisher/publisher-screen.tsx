import { getRouteApi } from "@tanstack/react-router";
import { BotSelect } from "../session/bot-select.tsx";
import { useBots } from "../session/use-bots.ts";
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
  const bots = useBots();
  // An old link may name a bot that is no longer the person's.
  const botId = (bots.data?.find((bot) => bot.botId === search.bot) ?? bots.data?.[0])?.botId;
  return (
    <Page
      title={words.title}
      aside={
        <BotSelect
          label={words.bot}
          value={botId}
          onChange={(bot) => void navigate({ search: { bot }, replace: true })}
        />
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

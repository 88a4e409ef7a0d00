import { viewFormats } from "@intermission/operator-api/campaign-words";
import { campaignRoutes } from "@intermission/operator-api/campaigns";
import type { Creative } from "@intermission/operator-api/creatives";
import { Link } from "@tanstack/react-router";
import { callOperator } from "../operator/call-operator.ts";
import { useAnswer } from "../operator/use-operator.ts";
import { useMay, usePerson } from "../session/use-session.ts";
import { AddBySearch } from "../ui/add-by-search.tsx";
import { AnswerView } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { useAttachments } from "../ui/use-attachments.ts";
import { MAX_OFFERED, type Offered } from "../ui/use-offered.ts";
import { useWords } from "../words/word-table.ts";
import { creativeWords } from "./words.ts";

/** So many campaigns of a creative are listed. */
const MAX_SHOWN = 100;

/** The campaigns that show a creative; one more is added, or one is removed, each the other's inverse. */
export function CreativeCampaigns({ creative: { creativeId } }: { creative: Creative }) {
  const words = useWords(creativeWords);
  const { advertiserId } = usePerson();
  const campaigns = useAnswer(campaignRoutes.listCampaigns, {
    query: { creativeId, advertiser: advertiserId ?? undefined, order: "newest", limit: MAX_SHOWN },
  });
  const may = useMay();
  const { attach, detach, isPending } = useAttachments({ attached: words.attached, detached: words.detached });
  return (
    <section className="panel stack" aria-labelledby="campaigns-of">
      <h2 id="campaigns-of">{words.campaigns}</h2>
      <AnswerView query={campaigns} rows={1}>
        {({ campaigns: showing, total }) => (
          <>
            {showing.length === 0 && <p className="secondary">{words.noCampaignShows}</p>}
            <ul>
              {showing.map((campaign) => (
                <li key={campaign.campaignId} className="row">
                  <Link to="/campaigns/$campaignId" params={{ campaignId: campaign.campaignId }} className="link">
                    {campaign.name}
                  </Link>
                  {may("detachCreative") && (
                    <Button
                      look="quiet"
                      isBusy={isPending}
                      aria-label={words.detachOf(campaign.name)}
                      onClick={() => detach({ campaignId: campaign.campaignId, creativeId, name: campaign.name })}
                    >
                      {words.detach}
                    </Button>
                  )}
                </li>
              ))}
            </ul>
            {total > showing.length && <p className="secondary">{`+${total - showing.length}`}</p>}
            {may("attachCreative") && (
              <AttachForm
                showing={showing}
                isBusy={isPending}
                onAttach={({ id: campaignId, name }) => attach({ campaignId, creativeId, name })}
              />
            )}
          </>
        )}
      </AnswerView>
    </section>
  );
}

interface AttachFormProps {
  /** Those that show it already. */
  showing: readonly { campaignId: string }[];
  isBusy: boolean;
  onAttach: (campaign: { id: string; name: string }) => void;
}

function AttachForm({ showing, isBusy, onAttach }: AttachFormProps) {
  const words = useWords(creativeWords);
  const { advertiserId } = usePerson();
  const read = async (find: string | undefined, signal: AbortSignal): Promise<Offered> => {
    const query = { find, order: "newest", advertiser: advertiserId ?? undefined, limit: MAX_OFFERED } as const;
    const pages = await Promise.all(
      viewFormats.map((format) => callOperator(campaignRoutes.listCampaigns, { query: { ...query, format } }, signal)),
    );
    // A campaign of both formats is in both lists.
    const names = new Map(pages.flatMap((page) => page.campaigns.map((one) => [one.campaignId, one.name] as const)));
    for (const { campaignId } of showing) names.delete(campaignId);
    return {
      options: [...names].map(([value, text]) => ({ value, text })),
      isMore: pages.some(({ next }) => next !== null),
    };
  };
  return (
    <AddBySearch
      label={words.attachTo}
      choose={words.attachTo}
      button={words.attachIt}
      of={`campaigns without ${showing.map(({ campaignId }) => campaignId)}`}
      read={read}
      isBusy={isBusy}
      onAdd={onAttach}
    />
  );
}

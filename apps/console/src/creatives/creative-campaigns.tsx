import { viewFormats } from "@intermission/operator-api/campaign-words";
import { campaignRoutes } from "@intermission/operator-api/campaigns";
import type { Creative } from "@intermission/operator-api/creatives";
import { Link } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { callOperator } from "../operator/call-operator.ts";
import { useAnswer } from "../operator/use-operator.ts";
import { useMay, usePerson } from "../session/use-session.ts";
import { AnswerView } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { useNotice } from "../ui/notices.tsx";
import { SearchSelect } from "../ui/search-select.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
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
  const { attach, detach, isPending } = useAttachments(creativeId);
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
                      onClick={() => detach(campaign)}
                    >
                      {words.detach}
                    </Button>
                  )}
                </li>
              ))}
            </ul>
            {total > showing.length && <p className="secondary">{`+${total - showing.length}`}</p>}
            {may("attachCreative") && <AttachForm showing={showing} isBusy={isPending} onAttach={attach} />}
          </>
        )}
      </AnswerView>
    </section>
  );
}

interface Named {
  campaignId: string;
  name: string;
}

function useAttachments(creativeId: string) {
  const words = useWords(creativeWords);
  const notice = useNotice();
  const attaching = useConfirmedChange(campaignRoutes.attachCreative);
  const detaching = useConfirmedChange(campaignRoutes.detachCreative);
  const attach = ({ campaignId, name }: Named) =>
    void attaching.run({ params: { campaignId, creativeId }, body: {} }, () =>
      notice({ text: words.attached(name), onUndo: () => detach({ campaignId, name }) }),
    );
  // Attached again, it has the weight and the texts that it had.
  const detach = ({ campaignId, name }: Named) =>
    void detaching.run({ params: { campaignId, creativeId } }, () =>
      notice({ text: words.detached(name), onUndo: () => attach({ campaignId, name }) }),
    );
  return { attach, detach, isPending: attaching.isPending || detaching.isPending };
}

interface AttachFormProps {
  /** Those that show it already. */
  showing: readonly Named[];
  isBusy: boolean;
  onAttach: (campaign: Named) => void;
}

function AttachForm({ showing, isBusy, onAttach }: AttachFormProps) {
  const words = useWords(creativeWords);
  const { advertiserId } = usePerson();
  const [chosen, setChosen] = useState<Named>();
  const found = useRef(new Map<string, string>());
  const read = async (find: string | undefined, signal: AbortSignal): Promise<Offered> => {
    const query = { find, order: "newest", advertiser: advertiserId ?? undefined, limit: MAX_OFFERED } as const;
    const pages = await Promise.all(
      viewFormats.map((format) => callOperator(campaignRoutes.listCampaigns, { query: { ...query, format } }, signal)),
    );
    // A campaign of both formats is in both lists.
    const campaigns = [
      ...new Map(pages.flatMap((page) => page.campaigns.map((one) => [one.campaignId, one] as const))).values(),
    ];
    for (const { campaignId, name } of campaigns) found.current.set(campaignId, name);
    const others = campaigns.filter(({ campaignId }) => !showing.some((one) => one.campaignId === campaignId));
    return {
      options: others.map(({ campaignId, name }) => ({ value: campaignId, text: name })),
      isMore: pages.some(({ next }) => next !== null),
    };
  };
  return (
    <form
      className="one-field"
      onSubmit={(event) => {
        event.preventDefault();
        if (chosen === undefined || isBusy) return;
        onAttach(chosen);
        setChosen(undefined);
      }}
    >
      <Field label={words.attachTo}>
        {({ id }) => (
          <SearchSelect
            id={id}
            label={words.attachTo}
            value={chosen?.campaignId}
            name={chosen?.name}
            all={words.attachTo}
            of={`campaigns without ${showing.map(({ campaignId }) => campaignId)}`}
            read={read}
            onChange={(campaignId) =>
              setChosen(
                campaignId === undefined
                  ? undefined
                  : { campaignId, name: found.current.get(campaignId) ?? campaignId },
              )
            }
          />
        )}
      </Field>
      <Button type="submit" isBusy={isBusy}>
        {words.attachIt}
      </Button>
    </form>
  );
}

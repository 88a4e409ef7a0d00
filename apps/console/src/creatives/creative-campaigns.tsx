import { campaignRoutes } from "@intermission/operator-api/campaigns";
import type { Creative } from "@intermission/operator-api/creatives";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useCampaigns } from "../session/use-campaigns.ts";
import { useMay } from "../session/use-session.ts";
import { AnswerView } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useWords } from "../words/word-table.ts";
import { creativeWords } from "./words.ts";

/** The campaigns that show a creative; one more is added, or one is removed, each the other's inverse. */
export function CreativeCampaigns({ creative: { creativeId } }: { creative: Creative }) {
  const words = useWords(creativeWords);
  const campaigns = useCampaigns({ archived: false });
  const may = useMay();
  const { attach, detach, isPending } = useAttachments(creativeId);
  return (
    <section className="panel stack" aria-labelledby="campaigns-of">
      <h2 id="campaigns-of">{words.campaigns}</h2>
      <AnswerView query={campaigns} rows={1}>
        {({ campaigns: all }) => {
          const isShown = ({ creatives }: (typeof all)[number]) =>
            creatives.some((one) => one.creativeId === creativeId && one.isActive);
          const showing = all.filter(isShown);
          const others = all.filter((one) => one.formats.includes("rewarded") && !isShown(one));
          return (
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
              {may("attachCreative") && others.length > 0 && (
                <AttachForm campaigns={others} isBusy={isPending} onAttach={attach} />
              )}
            </>
          );
        }}
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
  campaigns: readonly Named[];
  isBusy: boolean;
  onAttach: (campaign: Named) => void;
}

function AttachForm({ campaigns, isBusy, onAttach }: AttachFormProps) {
  const words = useWords(creativeWords);
  const [campaignId, setCampaignId] = useState(campaigns[0]?.campaignId);
  const chosen = campaigns.find((one) => one.campaignId === campaignId) ?? campaigns[0];
  return (
    <form
      className="one-field"
      onSubmit={(event) => {
        event.preventDefault();
        if (chosen !== undefined && !isBusy) onAttach(chosen);
      }}
    >
      <Field label={words.attachTo}>
        {(control) => (
          <select {...control} value={chosen?.campaignId} onChange={({ target }) => setCampaignId(target.value)}>
            {campaigns.map(({ campaignId, name }) => (
              <option key={campaignId} value={campaignId}>
                {name}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Button type="submit" isBusy={isBusy}>
        {words.attachIt}
      </Button>
    </form>
  );
}

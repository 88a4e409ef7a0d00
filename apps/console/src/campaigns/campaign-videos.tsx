import { type Campaign, type CampaignCreative, campaignRoutes } from "@intermission/operator-api/campaigns";
import { creativeRoutes } from "@intermission/operator-api/creatives";
import { Link } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { callOperator } from "../operator/call-operator.ts";
import { useAnswer } from "../operator/use-operator.ts";
import { useMay, usePerson } from "../session/use-session.ts";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { useNotice } from "../ui/notices.tsx";
import { SearchSelect } from "../ui/search-select.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { MAX_OFFERED, type Offered } from "../ui/use-offered.ts";
import { loadWords } from "../words/catalog.ts";
import { useWords } from "../words/word-table.ts";

const videoWords = loadWords("campaignVideos");

interface Named {
  creativeId: string;
  name: string;
}

/** The videos of a campaign; one more is added, or one is removed, each the other's inverse. The last one stays. */
export function CampaignVideos({ campaign: { campaignId, creatives, status } }: { campaign: Campaign }) {
  const words = useWords(videoWords);
  const may = useMay();
  const { attach, detach, isPending } = useAttachments(campaignId);
  const shown = creatives.filter(({ isActive }) => isActive);
  const isOpen = status !== "archived";
  return (
    <section className="panel stack" aria-labelledby="videos-of">
      <h2 id="videos-of">{words.title}</h2>
      {shown.length === 0 && <p className="secondary">{words.none}</p>}
      {shown.length > 0 && (
        <ul>
          {shown.map((creative) => (
            <Video
              key={creative.creativeId}
              creative={creative}
              hasWeights={shown.length > 1}
              isBusy={isPending}
              onRemove={isOpen && shown.length > 1 && may("detachCreative") ? detach : undefined}
            />
          ))}
        </ul>
      )}
      {isOpen && may("attachCreative") && <AddForm shown={shown} isBusy={isPending} onAdd={attach} />}
    </section>
  );
}

interface VideoProps {
  creative: CampaignCreative;
  hasWeights: boolean;
  isBusy: boolean;
  onRemove: ((creative: Named) => void) | undefined;
}

function Video({ creative: { creativeId, isApproved, weight }, hasWeights, isBusy, onRemove }: VideoProps) {
  const words = useWords(videoWords);
  const { data } = useAnswer(creativeRoutes.showCreative, { params: { creativeId } });
  const name = data?.name ?? creativeId;
  return (
    <li className="row">
      <Link to="/creatives/$creativeId" params={{ creativeId }} className="link">
        {name}
      </Link>
      {!isApproved && <span className="pill pill-late">{words.unapproved}</span>}
      {hasWeights && <span className="secondary">{words.often(weight)}</span>}
      {onRemove && (
        <Button
          look="quiet"
          isBusy={isBusy}
          aria-label={words.removeOf(name)}
          onClick={() => onRemove({ creativeId, name })}
        >
          {words.remove}
        </Button>
      )}
    </li>
  );
}

function useAttachments(campaignId: string) {
  const words = useWords(videoWords);
  const notice = useNotice();
  const attaching = useConfirmedChange(campaignRoutes.attachCreative);
  const detaching = useConfirmedChange(campaignRoutes.detachCreative);
  const attach = ({ creativeId, name }: Named) =>
    void attaching.run({ params: { campaignId, creativeId }, body: {} }, () =>
      notice({ text: words.added(name), onUndo: () => detach({ creativeId, name }) }),
    );
  // Added again, it has the weight and the texts that it had.
  const detach = ({ creativeId, name }: Named) =>
    void detaching.run({ params: { campaignId, creativeId } }, () =>
      notice({ text: words.removed(name), onUndo: () => attach({ creativeId, name }) }),
    );
  return { attach, detach, isPending: attaching.isPending || detaching.isPending };
}

interface AddFormProps {
  /** Those that it has already. */
  shown: readonly Pick<CampaignCreative, "creativeId">[];
  isBusy: boolean;
  onAdd: (creative: Named) => void;
}

function AddForm({ shown, isBusy, onAdd }: AddFormProps) {
  const words = useWords(videoWords);
  const { advertiserId } = usePerson();
  const [chosen, setChosen] = useState<Named>();
  const found = useRef(new Map<string, string>());
  const read = async (find: string | undefined, signal: AbortSignal): Promise<Offered> => {
    const query = { find, advertiser: advertiserId ?? undefined, limit: MAX_OFFERED };
    const { creatives, next } = await callOperator(creativeRoutes.listCreatives, { query }, signal);
    const others = creatives.filter(({ creativeId }) => !shown.some((one) => one.creativeId === creativeId));
    for (const { creativeId, name } of others) found.current.set(creativeId, name ?? creativeId);
    return {
      options: others.map(({ creativeId, name }) => ({ value: creativeId, text: name ?? creativeId })),
      isMore: next !== null,
    };
  };
  const choose = (creativeId: string | undefined) =>
    setChosen(creativeId === undefined ? undefined : { creativeId, name: found.current.get(creativeId) ?? creativeId });
  return (
    <form
      className="one-field"
      onSubmit={(event) => {
        event.preventDefault();
        if (chosen === undefined || isBusy) return;
        onAdd(chosen);
        setChosen(undefined);
      }}
    >
      <Field label={words.add}>
        {({ id }) => (
          <SearchSelect
            id={id}
            label={words.add}
            value={chosen?.creativeId}
            name={chosen?.name}
            all={words.choose}
            of={`creatives without ${shown.map(({ creativeId }) => creativeId)}`}
            read={read}
            onChange={choose}
          />
        )}
      </Field>
      <Button type="submit" isBusy={isBusy}>
        {words.addIt}
      </Button>
    </form>
  );
}

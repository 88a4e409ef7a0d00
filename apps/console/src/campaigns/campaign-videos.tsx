import type { Campaign, CampaignCreative } from "@intermission/operator-api/campaigns";
import { creativeRoutes } from "@intermission/operator-api/creatives";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { callOperator } from "../operator/call-operator.ts";
import { useAnswer } from "../operator/use-operator.ts";
import { useMay, usePerson } from "../session/use-session.ts";
import { AddBySearch } from "../ui/add-by-search.tsx";
import { Button } from "../ui/button.tsx";
import { useAttachments } from "../ui/use-attachments.ts";
import { MAX_OFFERED, type Offered } from "../ui/use-offered.ts";
import { loadWords } from "../words/catalog.ts";
import { useWords } from "../words/word-table.ts";

const videoWords = loadWords("campaignVideos");

/** The form is loaded when it is opened. */
const VideoDialog = lazy(async () => ({ default: (await import("./video-dialog.tsx")).VideoDialog }));

/** The videos of a campaign; one more is added, or one is removed, each the other's inverse. The last one stays. */
export function CampaignVideos({ campaign: { campaignId, creatives, status } }: { campaign: Campaign }) {
  const words = useWords(videoWords);
  const may = useMay();
  const { attach, detach, isPending } = useAttachments({ attached: words.added, detached: words.removed });
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
              campaignId={campaignId}
              creative={creative}
              isOpen={isOpen}
              hasWeights={shown.length > 1}
              isBusy={isPending}
              onRemove={
                isOpen && shown.length > 1 && may("detachCreative")
                  ? (video) => detach({ campaignId, ...video })
                  : undefined
              }
            />
          ))}
        </ul>
      )}
      {isOpen && may("attachCreative") && (
        <AddVideo
          shown={shown}
          isBusy={isPending}
          onAdd={({ id: creativeId, name }) => attach({ campaignId, creativeId, name })}
        />
      )}
    </section>
  );
}

interface VideoProps {
  campaignId: string;
  creative: CampaignCreative;
  hasWeights: boolean;
  /** Whether the campaign can still be changed. */
  isOpen: boolean;
  isBusy: boolean;
  onRemove: ((creative: { creativeId: string; name: string }) => void) | undefined;
}

function Video({ campaignId, creative, hasWeights, isOpen, isBusy, onRemove }: VideoProps) {
  const words = useWords(videoWords);
  const may = useMay();
  const [isEdited, setEdited] = useState(false);
  const { creativeId, isApproved, weight } = creative;
  const { data } = useAnswer(creativeRoutes.showCreative, { params: { creativeId } });
  const name = data?.name ?? creativeId;
  return (
    <li className="row">
      <Link to="/creatives/$creativeId" params={{ creativeId }} className="link">
        {name}
      </Link>
      {!isApproved && <span className="pill pill-late">{words.unapproved}</span>}
      {hasWeights && <span className="secondary">{words.often(weight)}</span>}
      {isOpen && may("attachCreative") && (
        <Button look="quiet" aria-label={words.settingsOf(name)} onClick={() => setEdited(true)}>
          {words.settings}
        </Button>
      )}
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
      <Suspense>
        {isEdited && (
          <VideoDialog campaignId={campaignId} creative={creative} name={name} onClose={() => setEdited(false)} />
        )}
      </Suspense>
    </li>
  );
}

interface AddVideoProps {
  /** Those that it has already. */
  shown: readonly Pick<CampaignCreative, "creativeId">[];
  isBusy: boolean;
  onAdd: (creative: { id: string; name: string }) => void;
}

function AddVideo({ shown, isBusy, onAdd }: AddVideoProps) {
  const words = useWords(videoWords);
  const { advertiserId } = usePerson();
  const read = async (find: string | undefined, signal: AbortSignal): Promise<Offered> => {
    const query = { find, advertiser: advertiserId ?? undefined, limit: MAX_OFFERED };
    const { creatives, next } = await callOperator(creativeRoutes.listCreatives, { query }, signal);
    const others = creatives.filter(({ creativeId }) => !shown.some((one) => one.creativeId === creativeId));
    return {
      options: others.map(({ creativeId, name }) => ({ value: creativeId, text: name ?? creativeId })),
      isMore: next !== null,
    };
  };
  return (
    <AddBySearch
      label={words.add}
      choose={words.choose}
      button={words.addIt}
      of={`creatives without ${shown.map(({ creativeId }) => creativeId)}`}
      read={read}
      isBusy={isBusy}
      onAdd={onAdd}
    />
  );
}

import { type Creative, creativeRoutes } from "@intermission/operator-api/creatives";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { useAnswer } from "../operator/use-operator.ts";
import { useAdvertiserName } from "../session/advertiser-picker.tsx";
import { useMay } from "../session/use-session.ts";
import { AnswerView, AsOf, EmptyState } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { Page } from "../ui/page.tsx";
import { QueueTabs } from "../ui/queue-tabs.tsx";
import { useShortcuts } from "../ui/use-shortcuts.ts";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { CreativePreview } from "./creative-preview.tsx";
import { useDecisions } from "./use-decisions.ts";
import { creativeWords } from "./words.ts";
import "./creatives.css";

/** A form is loaded when it is opened. */
const RefuseDialog = lazy(async () => ({ default: (await import("./refuse-dialog.tsx")).RefuseDialog }));

/** Loaded only for persons who may see it. */
const BoughtQueue = lazy(async () => ({ default: (await import("./bought-queue.tsx")).BoughtQueue }));

/** What waits for approval, one after the other: seen in the player, and approved or refused by one key. */
export function QueueScreen() {
  const words = useWords(creativeWords);
  const queue = useAnswer(creativeRoutes.readReviewQueue);
  const [postponed, setPostponed] = useState<readonly string[]>([]);
  const [shown, setShown] = useState<Creative>();
  const mayReview = useMay()("listBoughtCreatives");
  const waiting = queue.data?.creatives ?? [];
  // The one that is looked at stays until it is decided, whatever a later answer says about the queue.
  const current = shown ?? waiting.find(({ creativeId }) => !postponed.includes(creativeId)) ?? waiting[0];
  if (current !== shown) setShown(current);
  const goOn = (after: Creative) => {
    setPostponed((before) => [...before.filter((id) => id !== after.creativeId), after.creativeId]);
    setShown(undefined);
  };
  return (
    <Page
      title={words.queue}
      aside={
        queue.data && (
          <>
            <strong role="status">{words.waiting(queue.data.waiting)}</strong>
            <AsOf at={queue.dataUpdatedAt} />
          </>
        )
      }
    >
      <QueueTabs />
      <div className="stack">
        <AnswerView query={queue}>
          {() =>
            current === undefined ? (
              <EmptyState
                action={
                  <Link to="/creatives" className="button button-plain">
                    {words.allCreatives}
                  </Link>
                }
              >
                {words.nothingWaits}
              </EmptyState>
            ) : (
              <Waiting
                key={`${current.creativeId} ${current.revision}`}
                creative={current}
                onDecided={() => goOn(current)}
                onFailed={() => setShown(undefined)}
                onLater={waiting.length > 1 ? () => goOn(current) : undefined}
              />
            )
          }
        </AnswerView>
        <Suspense>{mayReview && <BoughtQueue />}</Suspense>
      </div>
    </Page>
  );
}

interface WaitingProps {
  creative: Creative;
  onDecided: () => void;
  /** It may have changed. */
  onFailed: () => void;
  onLater: (() => void) | undefined;
}

function Waiting({ creative, onDecided, onFailed, onLater }: WaitingProps) {
  const words = useWords(creativeWords);
  const { seconds, bytes, ago, dateTime } = useFormats();
  const advertiser = useAdvertiserName(creative.advertiserId);
  const { approve, refuse, refusal, isPending } = useDecisions({ onDecided, onFailed });
  const [isRefused, setRefused] = useState(false);
  const startApproval = () => void approve(creative);
  const startRefusal = () => setRefused(true);
  const mayDecide = useMay()("approveCreative");
  useShortcuts({ keys: isPending || !mayDecide ? {} : { a: startApproval, r: startRefusal } });
  const { name, creativeId, durationMs, byteLength, width, height, legalLine, erid, marking, submittedAt } = creative;
  return (
    <div className="beside-phone">
      <CreativePreview creative={creative} />
      <section className="panel stack" aria-labelledby="waiting">
        <h2 id="waiting">{name ?? creativeId}</h2>
        <dl className="facts">
          <div>
            <dt>{words.advertiser}</dt>
            <dd>{advertiser}</dd>
          </div>
          <div>
            <dt>{words.submittedAt}</dt>
            <dd title={dateTime(submittedAt)}>{ago(submittedAt)}</dd>
          </div>
          {durationMs !== null && byteLength !== null && (
            <div>
              <dt>{words.video}</dt>
              <dd>
                {seconds(durationMs / 1000)} <small>{`${width}×${height}, ${bytes(byteLength)}`}</small>
              </dd>
            </div>
          )}
          {erid !== null && (
            <div>
              <dt>{words.erid}</dt>
              <dd>{marking ?? erid}</dd>
            </div>
          )}
          {legalLine !== null && (
            <div>
              <dt>{words.legalLine}</dt>
              <dd>{legalLine}</dd>
            </div>
          )}
        </dl>
        <div className="row">
          {mayDecide && (
            <>
              <Button look="primary" isBusy={isPending} onClick={startApproval}>
                {words.approve}
              </Button>
              <Button look="danger" isBusy={isPending} onClick={startRefusal}>
                {words.refuse}
              </Button>
            </>
          )}
          {onLater !== undefined && <Button onClick={onLater}>{words.later}</Button>}
          <Link to="/creatives/$creativeId" params={{ creativeId }} className="link">
            {words.openIt}
          </Link>
        </div>
        {mayDecide && <p className="hint">{words.keys}</p>}
      </section>
      <Suspense>
        {isRefused && (
          <RefuseDialog
            creative={creative}
            request={refusal}
            onRefuse={(reason) => void refuse(creative, reason)}
            onClose={() => setRefused(false)}
          />
        )}
      </Suspense>
    </div>
  );
}

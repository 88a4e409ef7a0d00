import { type Campaign, campaignRoutes } from "@intermission/operator-api/campaigns";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { type TypedValues, typedValuesOf } from "../forms/form-definition.ts";
import { isSame, type Typed } from "../forms/typed-values.ts";
import { useAnswer } from "../operator/use-operator.ts";
import { useMay } from "../session/use-session.ts";
import { AnswerView, AsOf, EmptyState } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { Page } from "../ui/page.tsx";
import { QueueTabs } from "../ui/queue-tabs.tsx";
import { useFormats } from "../words/formats.ts";
import { queueWords } from "../words/queue-words.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import { draftForm, newCampaignValues } from "./campaign-form-definition.ts";
import { Decision } from "./decision.tsx";
import { wordsOfCampaignForm } from "./form-words.ts";
import { campaignReviewWords } from "./words.ts";
import "./campaigns.css";

/** What the queue reads at once; the rest follows as it gets shorter. */
const MAX_READ = 50;

/** The campaigns that advertisers have submitted, one after the other: approved or refused by one key. */
export function CampaignQueueScreen() {
  const words = useWords(campaignReviewWords);
  const { nothingWaits, queue: title } = useWords(queueWords);
  const queue = useAnswer(campaignRoutes.listCampaigns, { query: { review: "waiting", limit: MAX_READ } });
  const [postponed, setPostponed] = useState<readonly string[]>([]);
  const [shown, setShown] = useState<Campaign>();
  const waiting = queue.data?.campaigns ?? [];
  // The one that is looked at stays until it is decided, whatever a later answer says about the queue.
  const current = shown ?? waiting.find(({ campaignId }) => !postponed.includes(campaignId)) ?? waiting[0];
  if (current !== shown) setShown(current);
  const goOn = (after: Campaign) => {
    setPostponed((before) => [...before.filter((id) => id !== after.campaignId), after.campaignId]);
    setShown(undefined);
  };
  return (
    <Page
      title={title}
      aside={
        queue.data && (
          <>
            <strong role="status">{words.waiting(queue.data.total)}</strong>
            <AsOf at={queue.dataUpdatedAt} />
          </>
        )
      }
    >
      <QueueTabs />
      <AnswerView query={queue}>
        {() =>
          current === undefined ? (
            <EmptyState
              action={
                <Link to="/campaigns" className="button button-plain">
                  {words.allCampaigns}
                </Link>
              }
            >
              {nothingWaits}
            </EmptyState>
          ) : (
            <Waiting
              key={`${current.campaignId} ${current.updatedAt.getTime()}`}
              campaign={current}
              onDecided={() => goOn(current)}
              onFailed={() => setShown(undefined)}
              onLater={waiting.length > 1 ? () => goOn(current) : undefined}
            />
          )
        }
      </AnswerView>
    </Page>
  );
}

interface WaitingProps {
  campaign: Campaign;
  onDecided: () => void;
  onFailed: () => void;
  onLater: (() => void) | undefined;
}

function Waiting({ campaign, onDecided, onFailed, onLater }: WaitingProps) {
  const { later, openIt, submittedAt: submitted, advertiser: ofAdvertiser } = useWords(queueWords);
  const { ago, dateTime } = useFormats();
  const may = useMay();
  const { campaignId, name, advertiser, submittedAt } = campaign;
  const links = (
    <>
      {onLater !== undefined && <Button onClick={onLater}>{later}</Button>}
      <Link to="/campaigns/$campaignId" params={{ campaignId }} className="link">
        {openIt}
      </Link>
    </>
  );
  return (
    <section className="panel stack narrow" aria-labelledby="waiting">
      <h2 id="waiting">{name}</h2>
      <dl className="facts">
        <div>
          <dt>{ofAdvertiser}</dt>
          <dd>{advertiser}</dd>
        </div>
        {submittedAt !== null && (
          <div>
            <dt>{submitted}</dt>
            <dd title={dateTime(submittedAt)}>{ago(submittedAt)}</dd>
          </div>
        )}
        <SetFields campaign={campaign} />
        <Videos campaign={campaign} />
      </dl>
      {may("approveCampaign") ? (
        <Decision campaign={campaign} onDecided={onDecided} onFailed={onFailed} hasKeys>
          {links}
        </Decision>
      ) : (
        <div className="row">{links}</div>
      )}
    </section>
  );
}

/** What the advertiser has set, by the words of the form: the price stands in the form of the decision. */
function SetFields({ campaign }: { campaign: Campaign }) {
  const { labels, options = {} } = wordsOfCampaignForm(useLanguage(), undefined);
  const values: TypedValues = typedValuesOf(draftForm, campaign);
  const elsewhere = ["name", "creativeIds", "viewPriceMicros", "clickPriceMicros", "landingUrl"];
  const set = [...draftForm.fields.keys()].filter(
    (name) => !elsewhere.includes(name) && !isSame(values[name], newCampaignValues[name]),
  );
  const textOf = (typed: Typed | undefined, words: Readonly<Record<string, string>> = {}) =>
    [typed ?? ""]
      .flat()
      .map((one) => words[String(one)] ?? String(one))
      .join(", ");
  const { landingUrl } = campaign;
  return (
    <>
      {landingUrl !== null && (
        <div>
          <dt>{labels.landingUrl}</dt>
          <dd>
            <a className="link" href={landingUrl} target="_blank" rel="noreferrer noopener">
              {landingUrl}
            </a>
          </dd>
        </div>
      )}
      {set.map((name) => (
        <div key={name}>
          <dt>{labels[name]}</dt>
          <dd>{textOf(values[name], options[name])}</dd>
        </div>
      ))}
    </>
  );
}

function Videos({ campaign: { creatives } }: { campaign: Campaign }) {
  const { creatives: title, reviews } = useWords(queueWords);
  const shown = creatives.filter(({ isActive }) => isActive);
  if (shown.length === 0) return null;
  return (
    <div>
      <dt>{title}</dt>
      {shown.map(({ creativeId, isApproved }) => (
        <dd key={creativeId}>
          <Link to="/creatives/$creativeId" params={{ creativeId }} className="link">
            {creativeId}
          </Link>
          {isApproved && <small> {reviews.approved}</small>}
        </dd>
      ))}
    </div>
  );
}

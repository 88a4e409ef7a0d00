import type { Campaign } from "@intermission/operator-api/campaigns";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { type TypedValues, typedValuesOf } from "../forms/form-definition.ts";
import { isSame, type Typed } from "../forms/typed-values.ts";
import { useMay } from "../session/use-session.ts";
import { Skeleton } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { useFormats } from "../words/formats.ts";
import { queueWords } from "../words/queue-words.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import { draftForm, newCampaignValues } from "./campaign-form-definition.ts";
import { wordsOfCampaignForm } from "./form-words.ts";

/** Loaded separately, since its form is large. */
const Decision = lazy(async () => ({ default: (await import("./decision.tsx")).Decision }));

interface WaitingProps {
  campaign: Campaign;
  onDecided: () => void;
  onFailed: () => void;
  onLater: (() => void) | undefined;
}

/** A waiting campaign with the advertiser's settings and the form of the decision. */
export function WaitingCampaign({ campaign, onDecided, onFailed, onLater }: WaitingProps) {
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
        <Suspense fallback={<Skeleton rows={3} />}>
          <Decision campaign={campaign} onDecided={onDecided} onFailed={onFailed} hasKeys>
            {links}
          </Decision>
        </Suspense>
      ) : (
        <div className="row">{links}</div>
      )}
    </section>
  );
}

/** The advertiser's settings with the labels of the form, except the price, which is in the form of the decision. */
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

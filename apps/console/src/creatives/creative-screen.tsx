import { type Creative, creativeRoutes } from "@intermission/operator-api/creatives";
import { getRouteApi, Link } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { mediaAddress } from "../operator/media-address.ts";
import { useAnswer } from "../operator/use-operator.ts";
import { useAdvertiserName } from "../session/advertiser-picker.tsx";
import { useMay } from "../session/use-session.ts";
import { AnswerView, Skeleton } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { useNotice } from "../ui/notices.tsx";
import { Page } from "../ui/page.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { CreativeCampaigns } from "./creative-campaigns.tsx";
import { CreativeFiles } from "./creative-files.tsx";
import { ReviewPill } from "./creative-marks.tsx";
import { CreativePreview } from "./creative-preview.tsx";
import { useChangedNotice } from "./use-changed-notice.ts";
import { creativeWords } from "./words.ts";
import "./creatives.css";

/** What viewers objected to, and what is changed, is below what is read first. */
const AdReports = lazy(async () => ({ default: (await import("./ad-reports.tsx")).AdReports }));
const CreativeTexts = lazy(async () => ({ default: (await import("./creative-texts.tsx")).CreativeTexts }));

const route = getRouteApi("/shell/creatives/$creativeId");

/** One creative: what it is, where it is shown, and what of it can be changed. */
export function CreativeScreen() {
  const { creativeId } = route.useParams();
  const words = useWords(creativeWords);
  const may = useMay();
  const tell = useChangedNotice();
  const creative = useAnswer(creativeRoutes.showCreative, { params: { creativeId } });
  return (
    <Page
      title={creative.data?.name ?? creativeId}
      aside={
        <>
          {may("listAuditEntries") && (
            <Link to="/audit" search={{ kind: "creative", object: creativeId }} className="button button-plain">
              {words.history}
            </Link>
          )}
          {creative.data && <SubmitButton creative={creative.data} />}
        </>
      }
    >
      <AnswerView query={creative}>
        {(read) => (
          <div className="beside-phone">
            <CreativePreview creative={read} />
            <div className="stack">
              <Facts creative={read} />
              <CreativeCampaigns creative={read} />
              {may("listAdReports") && (
                <Suspense>
                  <AdReports creativeId={read.creativeId} />
                </Suspense>
              )}
              {/* The page of another creative has fields of its own: the router keeps the screen. */}
              {may("renameCreative") && (
                <Suspense fallback={<Skeleton rows={3} />}>
                  <CreativeTexts key={read.creativeId} creative={read} onSaved={tell} />
                </Suspense>
              )}
              {read.kind === "file" && <CreativeFiles creative={read} />}
            </div>
          </div>
        )}
      </AnswerView>
    </Page>
  );
}

/** For what its advertiser has not submitted, or has to submit again. */
function SubmitButton({ creative: { creativeId, review } }: { creative: Creative }) {
  const words = useWords(creativeWords);
  const may = useMay();
  const notice = useNotice();
  const submit = useConfirmedChange(creativeRoutes.submitCreative);
  if (!may("submitCreative") || (review !== "draft" && review !== "refused")) return null;
  const onClick = () => void submit.run({ params: { creativeId } }, () => notice({ text: words.submitted }));
  return (
    <Button look="primary" isBusy={submit.isPending} onClick={onClick}>
      {words.submit}
    </Button>
  );
}

function Facts({ creative }: { creative: Creative }) {
  const words = useWords(creativeWords);
  const { seconds, bytes, dateTime } = useFormats();
  const may = useMay();
  const advertiser = useAdvertiserName(creative.advertiserId);
  const { review, reviewReason, kind, durationMs, byteLength, width, height, fileName, url, createdAt } = creative;
  return (
    <section className="panel stack" aria-label={words.facts}>
      {reviewReason !== null && <p className="fault">{words.refusedBecause(reviewReason)}</p>}
      <dl className="facts">
        <div>
          <dt>{words.state}</dt>
          <dd>
            <ReviewPill review={review} />
          </dd>
        </div>
        <div>
          <dt>{words.advertiser}</dt>
          <dd>{creative.advertiserId === null ? words.operators : advertiser}</dd>
        </div>
        <div>
          <dt>{words.kind}</dt>
          <dd>{words.kinds[kind]}</dd>
        </div>
        {durationMs !== null && (
          <div>
            <dt>{words.duration}</dt>
            <dd>{seconds(durationMs / 1000)}</dd>
          </div>
        )}
        {byteLength !== null && (
          <div>
            <dt>{words.size}</dt>
            <dd>
              {bytes(byteLength)} <small>{`${width}×${height}`}</small>
            </dd>
          </div>
        )}
        <div>
          <dt>{words.added}</dt>
          <dd>{dateTime(createdAt)}</dd>
        </div>
      </dl>
      {fileName !== null && (
        <a className="link" href={mediaAddress(fileName)} target="_blank" rel="noreferrer">
          {words.video}
        </a>
      )}
      {url !== null && (
        <p>
          {words.address}: <code>{url}</code>
        </p>
      )}
      {kind === "vast" && url !== null && may("tryVastTag") && (
        <Link to="/creatives/vast" search={{ url }} className="link">
          {words.tryTag}
        </Link>
      )}
    </section>
  );
}

import { isViewFormat } from "@intermission/operator-api/campaign-words";
import { type Campaign, campaignRoutes } from "@intermission/operator-api/campaigns";
import { getRouteApi, Link } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { useAnswer } from "../operator/use-operator.ts";
import { useMay, usePerson } from "../session/use-session.ts";
import { AnswerView, AsOf, Skeleton } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { Page } from "../ui/page.tsx";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import type { ListedCampaign } from "./campaign-columns.tsx";
import { DuplicateDialog } from "./duplicate-dialog.tsx";
import { phaseOf } from "./pace.ts";
import { PhasePill } from "./phase-pill.tsx";
import { useMayArchive, useMayResume, useStatusChanges } from "./use-status-changes.ts";
import { campaignWords } from "./words.ts";
import "./campaigns.css";

/** The form is a large part of the screen, and below what is read first. */
const CampaignPlan = lazy(async () => ({ default: (await import("./campaign-plan.tsx")).CampaignPlan }));
const CampaignVideos = lazy(async () => ({ default: (await import("./campaign-videos.tsx")).CampaignVideos }));
const LastDays = lazy(async () => ({ default: (await import("../reports/last-days.tsx")).LastDays }));
const ReviewPanel = lazy(async () => ({ default: (await import("./review-panel.tsx")).ReviewPanel }));
const SettingsPanel = lazy(async () => ({ default: (await import("./settings-panel.tsx")).SettingsPanel }));

const route = getRouteApi("/shell/campaigns/$campaignId");

export function CampaignScreen() {
  const { campaignId } = route.useParams();
  const campaign = useAnswer(campaignRoutes.showCampaign, { params: { campaignId } });
  const { advertiserId } = usePerson();
  const may = useMay();
  const listed = useAnswer(campaignRoutes.listCampaigns, {
    query: { find: campaignId, archived: true, advertiser: advertiserId ?? undefined, limit: 1 },
  });
  const progress = listed.data?.campaigns.find((one) => one.campaignId === campaignId);
  return (
    <Page
      title={campaign.data?.name ?? campaignId}
      aside={
        <>
          {progress && <AsOf at={listed.dataUpdatedAt} />}
          {campaign.data && <Actions campaign={campaign.data} />}
        </>
      }
    >
      <AnswerView query={campaign}>
        {(read) => (
          <div className="stack">
            {progress && <Progress campaign={progress} currency={listed.data?.currency ?? "USD"} />}
            {read.review !== null && read.status !== "archived" && (
              <Suspense fallback={<Skeleton rows={2} />}>
                <ReviewPanel key={read.campaignId} campaign={read} />
              </Suspense>
            )}
            <Suspense fallback={<Skeleton rows={4} />}>
              {progress && <CampaignPlan campaign={progress} />}
              {read.formats.some(isViewFormat) && <CampaignVideos campaign={read} />}
              {may("readStats") && <LastDays key={read.campaignId} campaign={read.campaignId} />}
            </Suspense>
            <Suspense fallback={<Skeleton rows={6} />}>
              {/* The page of another campaign has fields of its own: the router keeps the screen. */}
              <SettingsPanel key={read.campaignId} campaign={read} />
            </Suspense>
          </div>
        )}
      </AnswerView>
    </Page>
  );
}

function Progress({ campaign, currency }: { campaign: ListedCampaign; currency: string }) {
  const words = useWords(campaignWords);
  const { money } = useFormats();
  const { delivered, budgetLeftMicros, advertiser, formats } = campaign;
  return (
    <dl className="panel facts">
      <div>
        <dt>{words.state}</dt>
        <dd>
          <PhasePill phase={phaseOf(campaign, Date.now())} />
        </dd>
      </div>
      <div>
        <dt>{words.advertiser}</dt>
        <dd>{advertiser}</dd>
      </div>
      <div>
        <dt>{words.spent}</dt>
        <dd>
          {money(delivered.spentMicros, currency)}
          {budgetLeftMicros !== null && <small> {words.left(money(budgetLeftMicros, currency))}</small>}
        </dd>
      </div>
      <div>
        <dt>{words.delivered}</dt>
        <dd>
          {formats.some(isViewFormat) && words.views(delivered.views)}
          {formats.length > 1 && ", "}
          {formats.includes("direct_link") && words.clicks(delivered.clicks)}
        </dd>
      </div>
    </dl>
  );
}

function Actions({ campaign }: { campaign: Campaign }) {
  const words = useWords(campaignWords);
  const may = useMay();
  const mayResume = useMayResume();
  const { pause, resume, archive } = useStatusChanges();
  const [isDuplicated, setDuplicated] = useState(false);
  const mayArchive = useMayArchive();
  const { status, campaignId } = campaign;
  return (
    <>
      {may("explainChoice") && (
        <Link to="/explain" search={{ campaign: campaignId }} className="button button-plain">
          {words.whyNot}
        </Link>
      )}
      {may("listAuditEntries") && (
        <Link to="/audit" search={{ kind: "campaign", object: campaignId }} className="button button-plain">
          {words.history}
        </Link>
      )}
      {status === "active" && may("pauseCampaign") && (
        <Button onClick={() => void pause([campaign])}>{words.pause}</Button>
      )}
      {mayResume(campaign) && <Button onClick={() => void resume(campaign)}>{words.resume}</Button>}
      {may("addCampaign") && <Button onClick={() => setDuplicated(true)}>{words.duplicate}</Button>}
      {mayArchive(campaign) && (
        <Button look="danger" onClick={() => void archive(campaign)}>
          {words.archive}
        </Button>
      )}
      {isDuplicated && <DuplicateDialog campaign={campaign} onClose={() => setDuplicated(false)} />}
    </>
  );
}

import { campaignPace } from "@intermission/operator-api/campaign-pace";
import type { Campaign, DeliveredSoFar } from "@intermission/operator-api/campaigns";
import { Link } from "@tanstack/react-router";
import { useMay } from "../session/use-session.ts";
import { Button } from "../ui/button.tsx";
import type { Column } from "../ui/data-table.tsx";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { BudgetCell } from "./budget-cell.tsx";
import { daysLeft, phaseOf } from "./pace.ts";
import { PhasePill } from "./phase-pill.tsx";
import { useMayArchive, useMayResume, useStatusChanges } from "./use-status-changes.ts";
import { campaignWords } from "./words.ts";

export type ListedCampaign = Campaign & DeliveredSoFar;

/** A pace between these is as planned. */
export const GOOD_PACE = { min: 0.8, max: 1.2 };

export function useCampaignColumns(
  currency: string,
  onDuplicate: (campaign: ListedCampaign) => void,
): Column<ListedCampaign>[] {
  const words = useWords(campaignWords);
  const { money, share, date } = useFormats();
  const now = Date.now();
  return [
    {
      id: "name",
      title: words.campaign,
      sortBy: "server",
      cell: ({ campaignId, name, advertiser }) => (
        <Link to="/campaigns/$campaignId" params={{ campaignId }} className="row-link">
          {name}
          <small>{advertiser}</small>
        </Link>
      ),
    },
    {
      id: "state",
      title: words.state,
      sortBy: "server",
      cell: (campaign) => <PhasePill phase={phaseOf(campaign, now)} />,
    },
    {
      id: "spent",
      title: words.spent,
      isNumber: true,
      sortBy: "server",
      cell: ({ delivered }) => money(delivered.spentMicros, currency),
    },
    {
      id: "pace",
      title: words.pace,
      isNumber: true,
      sortBy: "server",
      cell: (campaign) => {
        const pace = campaignPace(campaign, now);
        if (pace === undefined) return null;
        const isGood = pace >= GOOD_PACE.min && pace <= GOOD_PACE.max;
        return <span className={isGood ? undefined : "late"}>{share(pace)}</span>;
      },
    },
    {
      id: "ends",
      title: words.ends,
      sortBy: "server",
      cell: (campaign) => {
        const days = daysLeft(campaign, now);
        if (campaign.endsAt === null || days === undefined) return <span className="secondary">{words.noEnd}</span>;
        if (campaign.endsAt.getTime() <= now) return date(campaign.endsAt);
        return <span title={date(campaign.endsAt)}>{days === 0 ? words.lastDay : words.daysLeft(days)}</span>;
      },
    },
    {
      id: "daily",
      title: words.daily,
      isNumber: true,
      sortBy: "server",
      cell: (campaign) => <BudgetCell campaign={campaign} field="dailyBudgetMicros" currency={currency} />,
    },
    {
      id: "total",
      title: words.total,
      isNumber: true,
      sortBy: "server",
      cell: (campaign) => <BudgetCell campaign={campaign} field="totalBudgetMicros" currency={currency} />,
    },
    { title: "", cell: (campaign) => <RowActions campaign={campaign} onDuplicate={onDuplicate} /> },
  ];
}

function RowActions({
  campaign,
  onDuplicate,
}: {
  campaign: ListedCampaign;
  onDuplicate: (campaign: ListedCampaign) => void;
}) {
  const words = useWords(campaignWords);
  const may = useMay();
  const mayResume = useMayResume();
  const mayArchive = useMayArchive();
  const { pause, resume, archive } = useStatusChanges();
  const { name, status } = campaign;
  return (
    <span className="row-actions">
      {status === "active" && may("pauseCampaign") && (
        <Button
          look="quiet"
          icon="pause"
          aria-label={words.pauseOf(name)}
          title={words.pause}
          onClick={() => void pause([campaign])}
        />
      )}
      {mayResume(campaign) && (
        <Button
          look="quiet"
          icon="play"
          aria-label={words.resumeOf(name)}
          title={words.resume}
          onClick={() => void resume(campaign)}
        />
      )}
      {may("addCampaign") && (
        <Button
          look="quiet"
          icon="copy"
          aria-label={words.duplicateOf(name)}
          title={words.duplicate}
          onClick={() => onDuplicate(campaign)}
        />
      )}
      {mayArchive(campaign) && (
        <Button
          look="quiet"
          icon="archive"
          aria-label={words.archiveOf(name)}
          title={words.archive}
          onClick={() => void archive(campaign)}
        />
      )}
    </span>
  );
}

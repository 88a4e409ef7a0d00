import { campaignReviewRoutes } from "@intermission/operator-api/campaign-reviews";
import { type Campaign, campaignRoutes } from "@intermission/operator-api/campaigns";
import { lazy, Suspense } from "react";
import { StoredForm } from "../forms/stored-form.tsx";
import { useMay } from "../session/use-session.ts";
import { Skeleton } from "../ui/answer-view.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { uiWords } from "../ui/words.ts";
import { useWords } from "../words/word-table.ts";
import { campaignForm, draftForm, isCampaignField } from "./campaign-form-definition.ts";
import { campaignWords } from "./words.ts";

const CampaignSections = lazy(async () => ({ default: (await import("./campaign-sections.tsx")).CampaignSections }));

/**
 * The form of a campaign's settings. An advertiser sees it for campaigns that it drafted. Empty for an archived campaign, and for
 * a role that may not change settings.
 */
export function SettingsPanel({ campaign }: { campaign: Campaign }) {
  const may = useMay();
  const { status, review } = campaign;
  if (status === "archived") return null;
  if (may("updateCampaign")) return <OperatorsPanel campaign={campaign} />;
  return may("reviseCampaign") && review !== null ? <AdvertisersPanel campaign={campaign} /> : null;
}

function AdvertisersPanel({ campaign }: { campaign: Campaign }) {
  const { settings } = useWords(campaignWords);
  const { save } = useWords(uiWords);
  const revise = useConfirmedChange(campaignReviewRoutes.reviseCampaign, save);
  const { campaignId } = campaign;
  return (
    <section className="panel narrow" aria-labelledby="settings">
      <h2 id="settings">{settings}</h2>
      <StoredForm
        definition={draftForm}
        stored={campaign}
        schema={campaignReviewRoutes.reviseCampaign.body}
        isShown={(name, values) => isCampaignField(name, values, { isNew: false, isNewAdvertiser: false })}
        isPending={revise.isPending}
        serverFaults={revise.faults}
        onSave={(body, { updatedAt }, onDone) =>
          revise.run({ params: { campaignId }, query: { expectedUpdatedAt: updatedAt }, body }, onDone)
        }
      >
        {(form, conflicts) => (
          <Suspense fallback={<Skeleton rows={6} />}>
            <CampaignSections
              form={form}
              isNewAdvertiser={false}
              isDraft
              campaignId={campaignId}
              conflicts={conflicts}
            />
          </Suspense>
        )}
      </StoredForm>
      {revise.dialog}
    </section>
  );
}

function OperatorsPanel({ campaign }: { campaign: Campaign }) {
  const { settings } = useWords(campaignWords);
  const { save } = useWords(uiWords);
  const update = useConfirmedChange(campaignRoutes.updateCampaign, save);
  const { campaignId } = campaign;
  return (
    <section className="panel narrow" aria-labelledby="settings">
      <h2 id="settings">{settings}</h2>
      <StoredForm
        definition={campaignForm}
        stored={campaign}
        schema={campaignRoutes.updateCampaign.body}
        isShown={(name, values) => isCampaignField(name, values, { isNew: false, isNewAdvertiser: false })}
        isPending={update.isPending}
        serverFaults={update.faults}
        onSave={(body, { updatedAt }, onDone) =>
          update.run({ params: { campaignId }, query: { expectedUpdatedAt: updatedAt }, body }, onDone)
        }
      >
        {(form, conflicts) => (
          <Suspense fallback={<Skeleton rows={6} />}>
            <CampaignSections form={form} isNewAdvertiser={false} campaignId={campaignId} conflicts={conflicts} />
          </Suspense>
        )}
      </StoredForm>
      {update.dialog}
    </section>
  );
}

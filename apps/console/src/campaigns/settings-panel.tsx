import { type Campaign, campaignRoutes } from "@intermission/operator-api/campaigns";
import { useMay } from "../session/use-session.ts";
import { useNotice } from "../ui/notices.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { uiWords } from "../ui/words.ts";
import { useWords } from "../words/word-table.ts";
import { CampaignForm } from "./campaign-form.tsx";
import { valuesOf } from "./campaign-form-values.ts";
import { campaignWords } from "./words.ts";

/** The form of a campaign's settings; nothing for a role that may not change them, and for an archived campaign. */
export function SettingsPanel({ campaign }: { campaign: Campaign }) {
  const words = useWords(campaignWords);
  const { save, saved } = useWords(uiWords);
  const may = useMay();
  const notice = useNotice();
  const update = useConfirmedChange(campaignRoutes.updateCampaign);
  const { campaignId, targeting, status } = campaign;
  if (!may("updateCampaign") || status === "archived") return null;
  return (
    <section className="panel narrow" aria-labelledby="settings">
      <h2 id="settings">{words.settings}</h2>
      <CampaignForm
        // Other values than before, as after another person's change, make another form.
        key={campaign.updatedAt.getTime()}
        isNew={false}
        values={valuesOf(campaign)}
        targeting={targeting}
        submitText={save}
        isBusy={update.isPending}
        serverFaults={update.faults}
        onSubmit={({ formats: _, creativeIds: __, ...body }) =>
          void update.run({ params: { campaignId }, body }, () => notice({ text: saved }))
        }
      />
      {update.dialog}
    </section>
  );
}

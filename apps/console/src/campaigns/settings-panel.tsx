import { type Campaign, campaignRoutes } from "@intermission/operator-api/campaigns";
import { useMay } from "../session/use-session.ts";
import { useNotice } from "../ui/notices.tsx";
import { Conflicts, changedFields, useTypedSettings } from "../ui/typed-settings.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { uiWords } from "../ui/words.ts";
import { useWords } from "../words/word-table.ts";
import { CampaignForm } from "./campaign-form.tsx";
import { type CampaignFormValues, requestOf, valuesOf } from "./campaign-form-values.ts";
import { campaignWords } from "./words.ts";

/**
 * The form of a campaign's settings; nothing for a role that may not change them, and for an archived campaign. Only what was
 * typed is sent, and only if the campaign has not been changed since it was shown. Another person's change appears in the
 * fields at once; where the reader has typed into the same field, the reader chooses. What is typed while it is saved stays.
 */
export function SettingsPanel({ campaign }: { campaign: Campaign }) {
  const words = useWords(campaignWords);
  const { save, saved } = useWords(uiWords);
  const may = useMay();
  const notice = useNotice();
  const update = useConfirmedChange(campaignRoutes.updateCampaign);
  const { form, seen, typed, conflicts, show, keepTyped } = useTypedSettings(campaign, valuesOf);
  const { campaignId, status } = campaign;
  if (!may("updateCampaign") || status === "archived") return null;
  const stored = valuesOf(campaign);
  const submit: React.ComponentProps<typeof CampaignForm>["onSubmit"] = (body, sent) => {
    const changes = requestOf(typed, body);
    if (Object.keys(changes).length === 0) {
      notice({ text: saved });
      return;
    }
    void update.run(
      { params: { campaignId }, query: { expectedUpdatedAt: seen.updatedAt }, body: changes },
      (changed) => {
        show(changed, changedFields(sent, form.getValues()));
        notice({ text: saved });
      },
    );
  };
  return (
    <section className="panel narrow" aria-labelledby="settings">
      <h2 id="settings">{words.settings}</h2>
      {!update.isPending && (
        <Conflicts
          fields={conflicts.map((field) => ({ label: words[labels[field]], value: String(stored[field]) }))}
          onTake={() => show(campaign)}
          onKeep={keepTyped}
        />
      )}
      <CampaignForm
        form={form}
        isNew={false}
        targeting={seen.targeting}
        submitText={save}
        isBusy={update.isPending}
        serverFaults={update.faults}
        onSubmit={submit}
      />
      {update.dialog}
    </section>
  );
}

/** What the fields are called. */
const labels = {
  name: "name",
  advertiser: "advertiser",
  formats: "format",
  creativeIds: "videos",
  landingUrl: "landingUrl",
  viewPrice: "viewPrice",
  clickPrice: "clickPrice",
  dailyBudget: "daily",
  totalBudget: "total",
  startsAt: "startsAt",
  endsAt: "endsAt",
  languages: "languages",
  bots: "bots",
  priority: "priority",
} as const satisfies Record<keyof CampaignFormValues, keyof (typeof campaignWords)["en"]>;

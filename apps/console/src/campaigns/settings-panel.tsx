import { type Campaign, campaignRoutes } from "@intermission/operator-api/campaigns";
import { useEffect, useState } from "react";
import { useForm } from "react-hook-form";
import { useMay } from "../session/use-session.ts";
import { Button } from "../ui/button.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { uiWords } from "../ui/words.ts";
import { useWords } from "../words/word-table.ts";
import { CampaignForm } from "./campaign-form.tsx";
import { type CampaignFormValues, changedFields, requestOf, valuesAt, valuesOf } from "./campaign-form-values.ts";
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
  const { form, seen, typed, conflicts, show, keepTyped } = useTypedSettings(campaign);
  const { campaignId, status } = campaign;
  if (!may("updateCampaign") || status === "archived") return null;
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
      {conflicts.length > 0 && !update.isPending && (
        <Conflicts fields={conflicts} stored={campaign} onKeep={keepTyped} onTake={show} />
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

/** The form, the campaign that it began with, what was typed since, and what another person has set meanwhile. */
function useTypedSettings(campaign: Campaign) {
  const [seen, setSeen] = useState(campaign);
  const form = useForm<CampaignFormValues>({ defaultValues: valuesOf(campaign) });
  const values = form.watch();
  const typed = changedFields(valuesOf(seen), values);
  const isNewer = campaign.updatedAt > seen.updatedAt;
  const conflicts = isNewer
    ? changedFields(valuesOf(seen), valuesOf(campaign)).filter(
        (field) => typed.includes(field) && changedFields(values, valuesOf(campaign)).includes(field),
      )
    : [];
  /** `kept`: the fields that stay as they are typed. */
  const show = (stored: Campaign, kept: readonly (keyof CampaignFormValues)[] = []) => {
    form.reset({ ...valuesOf(stored), ...valuesAt(kept, form.getValues()) });
    setSeen(stored);
  };
  const keepTyped = () => show(campaign, typed);
  const isMerged = isNewer && conflicts.length === 0;
  useEffect(() => {
    if (isMerged) keepTyped();
  });
  return { form, seen, typed, conflicts, show, keepTyped };
}

interface ConflictsProps {
  fields: readonly (keyof CampaignFormValues)[];
  stored: Campaign;
  onKeep: () => void;
  onTake: (stored: Campaign) => void;
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

/** The fields that the reader and another person have changed. */
function Conflicts({ fields, stored, onKeep, onTake }: ConflictsProps) {
  const words = useWords(campaignWords);
  const values = valuesOf(stored);
  return (
    <div className="stack" role="alert">
      <p>{words.changedMeanwhile}</p>
      <dl>
        {fields.map((field) => (
          <div key={field}>
            <dt className="secondary">{words[labels[field]]}</dt>
            <dd>{String(values[field]) || "–"}</dd>
          </div>
        ))}
      </dl>
      <div className="row">
        <Button onClick={() => onTake(stored)}>{words.takeTheirs}</Button>
        <Button onClick={onKeep}>{words.keepMine}</Button>
      </div>
    </div>
  );
}
